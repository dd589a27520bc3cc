import { DAY_MS, HOUR_MS } from '../../layers/gateway/domain/time.ts'
import type { PageUrl } from '../router.ts'

export type RangeName = '1h' | '24h' | '7d' | '30d' | 'custom'

export const RANGES = [
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
  ['custom', 'Custom'],
] as const satisfies readonly (readonly [RangeName, string])[]

const LENGTHS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS }

export type Range = {
  readonly name: RangeName
  readonly from: string
  /** None for a range that ends now. */
  readonly to?: string
  readonly isByHour: boolean
}

/** The range that the address of a page has: a name, or two UTC days. */
export function rangeOf(url: PageUrl, nowMs: number, usual: RangeName = '24h'): Range {
  const name = (url.query.get('range') ?? usual) as RangeName
  const lengthMs = LENGTHS[name]
  if (lengthMs !== undefined) {
    return { name, from: new Date(nowMs - lengthMs).toISOString(), isByHour: lengthMs <= 3 * DAY_MS }
  }
  const from = dayIn(url, 'from') ?? dayText(nowMs - 6 * DAY_MS)
  const to = dayIn(url, 'to') ?? dayText(nowMs + DAY_MS)
  return { name: 'custom', from, to, isByHour: Date.parse(to) - Date.parse(from) <= 3 * DAY_MS }
}

function dayIn(url: PageUrl, name: string): string | undefined {
  const text = url.query.get(name) ?? ''
  return Number.isNaN(Date.parse(text)) ? undefined : text
}

export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
