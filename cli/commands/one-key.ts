import type { AccountShape, AccountStatus } from '../../layers/admin/api/shapes/accounts.ts'
import type { KeyDetail, KeyShape, KeyStatus } from '../../layers/admin/api/shapes/keys.ts'
import { shownText } from '../../layers/admin/settings/setting-texts.ts'
import { ASKED_SETTINGS, SETTING_WORDS, type SettingField } from '../../layers/admin/settings/setting-words.ts'
import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { printFields, printJson, wide } from '../../layers/terminal/output.ts'
import type { Style } from '../../layers/terminal/terminal.ts'
import { pathOf } from '../books/ask-books.ts'
import type { Session } from './open-session.ts'
import { moments } from './time-range.ts'

export function keyAt<Found = KeyDetail>({ admin }: Session, id: string): Promise<Found> {
  return admin.get(pathOf(id))
}

type Named = Pick<KeyShape, 'id' | 'name'>

/** The answer is whole with --json, otherwise the changes only. */
export function showChange({ out, json }: Session, key: Named, changes: readonly string[], answer: object = key): void {
  const heading = plainLine(`${key.name} (${key.id})`)
  const lines = changes.map((change) => out.paint.strong(plainLine(change)))
  if (json) printJson(out, answer)
  else if (changes.length === 0) out.painted(`${heading} is as it was. Nothing was changed.`)
  else out.painted([`${heading} is changed:`, ...lines].join('\n  '))
}

export function changeLine(name: string, before: string, after: string): string {
  return `${name} ${before} → ${after}`
}

type Ending = Pick<NonNullable<KeyShape['previous']>, 'last_four' | 'expires_at'>

export function rotationChanges({ previous, last_four }: { previous: Ending | null; last_four: string }): string[] {
  if (!previous) return [`only the secret …${last_four} is valid now`]
  return [
    changeLine('secret', `…${previous.last_four}`, `…${last_four}`),
    `old secret …${previous.last_four} valid until ${previous.expires_at}`,
  ]
}

type Made = { readonly by: string | null; readonly by_name?: string | null }

/** The end of an ARN says who it is. */
export const BY = {
  of: ({ by }: Made) => by,
  short: ({ by, by_name }: Made) => by_name ?? by?.slice(by.lastIndexOf('/') + 1),
}

const STATUS_STYLES: Readonly<Record<KeyStatus | AccountStatus, Style>> = {
  active: 'good',
  suspended: 'warn',
  expired: 'warn',
  revoked: 'bad',
  closed: 'bad',
}

export const NAME_COLUMNS = {
  id: wide((one: Owner) => one.id),
  name: (one: Owner) => one.name,
  status: { of: (one: Owner) => one.status, style: (one: Owner) => STATUS_STYLES[one.status] },
}
type Owner = Pick<KeyShape | AccountShape, 'id' | 'name' | 'status'>

export const KEY_COLUMNS = {
  ...NAME_COLUMNS,
  key: { of: (key: Listed) => `${key.prefix}…${key.last_four}`, short: (key: Listed) => `…${key.last_four}` },
}
type Listed = Pick<KeyShape, 'id' | 'name' | 'status' | 'prefix' | 'last_four'>

export function showKey({ out, json, nowMs }: Session, key: KeyShape) {
  if (json) printJson(out, key)
  else printFields(out, key, (one) => keyFields(one, nowMs))
}

function keyFields(key: KeyShape, nowMs: number) {
  const { previous, last_used_at } = key
  return {
    id: key.id,
    name: key.name,
    status: key.account_suspended ? `${key.status} with its account` : key.status,
    key: `${key.prefix}…${key.last_four}`,
    ...(previous && {
      // An operator wants to know if the old secret can be ended.
      'old secret': `…${previous.last_four} valid until ${previous.expires_at}, ${previous.last_used_at === null ? 'not used since the rotation' : `last used ${agoText(previous.last_used_at, nowMs)}`}`,
    }),
    ...settingTexts(key),
    ...(key.account_id !== null && { account: `${key.account_name} (${key.account_id})` }),
    [key.account_id === null ? 'granted' : 'given to it']: key.granted,
    [key.account_id === null ? 'available' : 'lies with it']: key.available,
    held: key.held,
    spent: key.spent,
    ...(key.loss_today !== '0' && {
      'lost today': `${key.loss_today}: what its requests may have cost beyond their charges`,
    }),
    created: key.created_at,
    'last used': last_used_at === null ? 'never' : `${agoText(last_used_at, nowMs)} (${last_used_at})`,
  }
}

function settingTexts(key: KeyShape): Record<string, string> {
  const used: Partial<Record<SettingField, string>> = {
    daily_limit: ` (${key.calls_today} calls today)`,
    max_concurrent: ` (${key.requests_open} now)`,
    ...Object.fromEntries(key.credit_windows.map(({ setting, remaining }) => [setting, ` (${remaining} left)`])),
  }
  const texts = ASKED_SETTINGS.flatMap((setting) => {
    const { field, label } = SETTING_WORDS[setting]
    if (field === 'name' || key[field] === null) return []
    return [[label.toLowerCase(), `${shownText(SETTING_WORDS[setting], key[field])}${used[field] ?? ''}`]]
  })
  return Object.fromEntries(texts)
}

type Used = Pick<KeyShape, 'last_used_at'>

export function lastUsed(nowMs: number) {
  const ago = ({ last_used_at: at }: Used) => (at === null ? 'never' : agoText(at, nowMs))
  return moments(({ last_used_at }: Used) => last_used_at ?? 'never', ago)
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const

/** The time since a moment, in its largest unit; other clocks may be ahead of ours. */
function agoText(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at)
  for (const [unit, length] of UNITS) {
    const count = Math.floor(ms / length)
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`
  }
  return 'less than a minute ago'
}
