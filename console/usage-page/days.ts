import { DAY_MS } from '../../layers/gateway/domain/time.ts'
import type { Figures, Sums } from './ask.ts'

export const SHOWN_DAYS = 30
export type DaySum = Figures & { readonly day: string }

/** The UTC day of a moment. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The days to today, those without requests among them. */
export function lastDays({ data }: Sums<{ readonly day: string }>, nowMs: number): readonly DaySum[] {
  const known = new Map(data.map((one) => [one.day, one]))
  return Array.from({ length: SHOWN_DAYS }, (_, i) => {
    const day = dayOf(nowMs - (SHOWN_DAYS - 1 - i) * DAY_MS)
    return known.get(day) ?? { day, requests: 0, total_tokens: 0, cost: '0' }
  })
}
