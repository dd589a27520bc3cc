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

export function changeText({ before, after }: { readonly before: Fields; readonly after: Fields }): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const told = names.map((name) => [name, ...[before, after].map((fields) => textOf(fields?.[name]))])
  if (!before) return told.flatMap(([name, , now]) => (now === '-' ? [] : `${name} ${now}`)).join(', ')
  return told.map(([name, was, now]) => `${name} ${was} → ${now}`).join(', ')
}

function textOf(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '-'
  return Array.isArray(value) ? value.join(' ') : String(value)
}
