import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { dayText } from './numbers.ts'

/** A span that has no end ends now. */
type Span = readonly [from: string, to?: string]
type Preset = readonly [label: string, spanAt: (nowMs: number) => Span]

const last =
  (lengthMs: number) =>
  (nowMs: number): Span => [new Date(nowMs - lengthMs).toISOString()]

/** Whole ones: half a first day would look like less use. */
const lastDays =
  (days: number) =>
  (nowMs: number): Span => [dayText(nowMs - (days - 1) * DAY_MS)]

const monthText = (ms: number) => `${dayText(ms).slice(0, 8)}01`

/** Those that a picker has room for. Days and months are of UTC, as all sums are. */
const BY_NAME: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  ['1h', ['Last hour', last(HOUR_MS)]],
  ['24h', ['Last 24 hours', last(DAY_MS)]],
  ['today', ['Today', (nowMs) => [dayText(nowMs)]]],
  ['yesterday', ['Yesterday', (nowMs) => [dayText(nowMs - DAY_MS), dayText(nowMs)]]],
  ['7d', ['Last 7 days', lastDays(7)]],
  ['30d', ['Last 30 days', lastDays(30)]],
  ['month', ['This month', (nowMs) => [monthText(nowMs)]]],
  ['last-month', ['Last month', (nowMs) => [monthText(Date.parse(monthText(nowMs)) - DAY_MS), monthText(nowMs)]]],
])

export const PRESETS = [...BY_NAME].map(([name, [label]]) => [name, label] as const)

const BY_HOUR_MS = 3 * DAY_MS

/** Its name is that of a preset, or `custom`. */
export type Range = { readonly name: string; readonly from: string; readonly to?: string; readonly isByHour: boolean }

type Addressed = { readonly query: URLSearchParams }

/** A range is in the address by its name, or by two moments or UTC days. */
export function rangeOf(url: Addressed, nowMs: number, usual = '24h'): Range {
  const name = url.query.get('range') ?? (url.query.has('from') || url.query.has('to') ? 'custom' : usual)
  const [, spanAt] = BY_NAME.get(name) ?? []
  const [from, to] = spanAt?.(nowMs) ?? [
    momentIn(url, 'from') ?? dayText(nowMs - 6 * DAY_MS),
    momentIn(url, 'to') ?? dayText(nowMs + DAY_MS),
  ]
  const isByHour = (to === undefined ? nowMs : Date.parse(to)) - Date.parse(from) <= BY_HOUR_MS
  return { name: spanAt ? name : 'custom', from, ...(to !== undefined && { to }), isByHour }
}

export function rangeQuery({ name, from, to }: Range): Readonly<Record<string, string | undefined>> {
  return name === 'custom' ? { from, to } : { range: name }
}

function momentIn(url: Addressed, name: string): string | undefined {
  const text = url.query.get(name) ?? ''
  return Number.isNaN(Date.parse(text)) ? undefined : text
}
