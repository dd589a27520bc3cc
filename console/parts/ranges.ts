import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/basics/time.ts'
import { dayText } from './numbers.ts'

/** Those that a picker has room for. Days and months are of UTC, as all sums are. */
export const PRESETS = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['month', 'This month'],
  ['last-month', 'Last month'],
] as const

export type RangeName = (typeof PRESETS)[number][0] | 'custom'

const LENGTHS: ReadonlyMap<string, number> = new Map([
  ['1h', HOUR_MS],
  ['24h', DAY_MS],
  ['7d', 7 * DAY_MS],
  ['30d', 30 * DAY_MS],
])

/** Those that end now, each with its length: `24 h`. */
export const RANGES = [...LENGTHS.keys()].map((name) => [name, name.replace(/\D/, ' $&')] as const)

/** Longer ranges are drawn by the day. */
const BY_HOUR_MS = 3 * DAY_MS

export type Range = {
  readonly name: RangeName
  readonly from: string
  /** None for a range that ends now. */
  readonly to?: string
  readonly isByHour: boolean
}

type Addressed = { readonly query: URLSearchParams }

export function rangeOf(url: Addressed, nowMs: number, usual: RangeName = '24h'): Range {
  const hasMoments = url.query.has('from') || url.query.has('to')
  const name = (url.query.get('range') ?? (hasMoments ? 'custom' : usual)) as RangeName
  const lengthMs = LENGTHS.get(name)
  if (lengthMs !== undefined) {
    return { name, from: new Date(nowMs - lengthMs).toISOString(), isByHour: lengthMs <= BY_HOUR_MS }
  }
  const [first, end] = CALENDAR.get(name)?.(nowMs) ?? [
    momentIn(url, 'from') ?? dayText(nowMs - 6 * DAY_MS),
    momentIn(url, 'to') ?? dayText(nowMs + DAY_MS),
  ]
  const isByHour = (end === undefined ? nowMs : Date.parse(end)) - Date.parse(first) <= BY_HOUR_MS
  return { name: CALENDAR.has(name) ? name : 'custom', from: first, ...(end !== undefined && { to: end }), isByHour }
}

export function rangeQuery({ name, from, to }: Range): Readonly<Record<string, string | undefined>> {
  return name === 'custom' ? { from, to } : { range: name }
}

type Span = readonly [from: string, to?: string]

const CALENDAR: ReadonlyMap<string, (nowMs: number) => Span> = new Map([
  ['today', (nowMs: number): Span => [dayText(nowMs)]],
  ['yesterday', (nowMs) => [dayText(nowMs - DAY_MS), dayText(nowMs)]],
  ['month', (nowMs) => [monthText(nowMs)]],
  ['last-month', (nowMs) => [monthText(Date.parse(monthText(nowMs)) - DAY_MS), monthText(nowMs)]],
])

function momentIn(url: Addressed, name: string): string | undefined {
  const text = url.query.get(name) ?? ''
  return Number.isNaN(Date.parse(text)) ? undefined : text
}

function monthText(ms: number): string {
  return `${dayText(ms).slice(0, 8)}01`
}
