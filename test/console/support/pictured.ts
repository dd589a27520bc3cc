import { REQUEST_ID, sampleKey } from './samples.ts'

/** Every page, by the name of its picture: where it is, and a text that is there when it has loaded. */
export const PICTURED: Readonly<Record<string, { readonly path: string; readonly text: string }>> = {
  overview: { path: 'overview', text: 'customer 3' },
  keys: { path: 'keys', text: 'customer 5' },
  key: { path: `keys/${sampleKey(1).id}`, text: 'works for another' },
  requests: { path: 'requests', text: 'rate_limit_exceeded' },
  request: { path: `requests/${REQUEST_ID}`, text: 'Provider cost' },
  usage: { path: 'usage', text: 'The model 2' },
  playground: { path: 'playground', text: 'makes a key for this console' },
  books: { path: 'books', text: 'Last proven' },
  catalog: { path: 'catalog', text: 'is in force since' },
  routes: { path: 'routes', text: 'openrouter' },
  changes: { path: 'changes', text: 'rpm: 60 → 120' },
  search: { path: 'search?q=nobody', text: 'Nothing has this id' },
}

/** The README's pictures: one page of the console, and what `npm run pictures:race` makes. */
export const README_PICTURES = { console: 'console.png', race: 'race.gif' } as const

export function pictureOf(name: string, scheme: 'light' | 'dark'): string {
  return `${name}-${scheme}.webp`
}
