import { ACCOUNT_WORDS } from './account-words.ts'
import { SETTING_WORDS } from './setting-words.ts'

/** The fields of changes that are no settings. */
const OTHERS = {
  status: 'State',
  last_four: 'Secret ends in',
  previous_last_four: 'Old secret ends in',
  previous_until: 'Old secret works until',
  account_id: 'Customer',
  account_plan: 'Plan of the customer',
  with_account: 'Suspended with its customer',
  credits: 'Credits',
  reference: 'Reference',
  daily_grant: 'Credits it may grant a day',
  version: 'Version',
  content_of: 'Content of version',
  factor: 'Factor',
}

/** The name of each field that a change can have, as people read it. */
export const EVENT_WORDS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(OTHERS),
  ...Object.entries(ACCOUNT_WORDS).map(([field, { label }]) => [field, label] as const),
  ...Object.values(SETTING_WORDS).map(({ field, label }) => [field, label] as const),
])

type Fields = Readonly<Record<string, unknown>> | null
type Change = { readonly before: Fields; readonly after: Fields; readonly account_name?: string | null }

export function changeLines({ before, after, account_name }: Change, nameOf: (field: string) => string): string[] {
  return [...new Set([before, after].flatMap((fields) => Object.keys(fields ?? {})))].flatMap((field) => {
    const named = field === 'account_id' ? account_name : null
    const [was, now] = [before, after].map((fields) => textOf(fields?.[field] && (named ?? fields[field])))
    if (before) return `${nameOf(field)} ${was} → ${now}`
    return now === '-' ? [] : `${nameOf(field)} ${now}`
  })
}

export const changeText = (change: Change) =>
  changeLines(change, (field) => (EVENT_WORDS.get(field) ?? field).toLowerCase()).join(', ')

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ') || '-'
  return typeof value === 'object' && value ? JSON.stringify(value) : String(value ?? '-')
}
