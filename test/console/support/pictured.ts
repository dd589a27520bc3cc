import { REQUEST_ID, sampleAccount, sampleKey } from './samples.ts'

/** Every page, by the name of its picture: where it is, and a text that is there when it has loaded. */
export const PICTURED: Readonly<Record<string, { readonly path: string; readonly text: string }>> = {
  overview: { path: 'overview', text: 'customer 3' },
  accounts: { path: 'accounts', text: 'cus_acme' },
  account: { path: `accounts/${sampleAccount().id}`, text: 'Ann Lee' },
  keys: { path: 'keys', text: 'customer 5' },
  key: { path: `keys/${sampleKey(1).id}`, text: 'works for another' },
  requests: { path: 'requests', text: 'rate_limit_exceeded' },
  request: { path: `requests/${REQUEST_ID}`, text: 'Provider cost' },
  usage: { path: 'usage', text: 'The model 2' },
  playground: { path: 'playground', text: 'makes a key for this console' },
  books: { path: 'books', text: 'Last proven' },
  catalog: { path: 'catalog', text: 'is in force since' },
  editor: { path: 'catalog?model=claude-sonnet', text: 'Name for callers' },
  routes: { path: 'routes', text: 'openrouter' },
  invoices: { path: 'invoices', text: 'compared with every request' },
  statements: { path: `statements?account=${sampleAccount().id}&month=2026-10`, text: 'Closing balance' },
  reconcile: { path: 'reconcile', text: 'choose its files' },
  notices: { path: 'notices', text: 'key.balance_low' },
  changes: { path: 'changes', text: 'Requests a minute: 60 → 120' },
  search: { path: 'search?q=nobody', text: 'Nothing has this id' },
}

/** The README's pictures: one page of the console, and what `npm run pictures:race` makes. */
export const README_PICTURES = { console: 'console.png', race: 'race.gif' } as const

const SCHEMES = ['light', 'dark'] as const
const WIDTHS = [1440, 1280, 390] as const

export type Picture = {
  readonly name: string
  readonly width: (typeof WIDTHS)[number]
  readonly scheme: (typeof SCHEMES)[number]
}

/** Every page at every width, in light and in dark. */
export const PICTURES: readonly Picture[] = Object.keys(PICTURED).flatMap((name) =>
  WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ name, width, scheme }))),
)

export function fileOf({ name, width, scheme }: Picture): string {
  return `${name}-${width}-${scheme}.webp`
}
