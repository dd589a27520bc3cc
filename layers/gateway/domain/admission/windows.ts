import { DAY_MS, utcDay } from '../basics/time.ts'

export type WindowKind = 'day' | 'month'

type WindowRule = {
  /** The name of the window that is open at this time. Names of a kind sort by time. */
  readonly nameAt: (ms: number) => string
  readonly nextAtMs: (nowMs: number) => number
  /** A window is kept for so long after it has closed: a write can land late, and another clock can be behind. */
  readonly keptMs: number
  readonly nextWords: string
}

export const WINDOWS: Readonly<Record<WindowKind, WindowRule>> = {
  day: {
    nameAt: utcDay,
    nextAtMs: (nowMs) => nowMs - (nowMs % DAY_MS) + DAY_MS,
    keptMs: DAY_MS,
    nextWords: 'at midnight UTC',
  },
  month: {
    nameAt: (ms) => utcDay(ms).slice(0, 'yyyy-mm'.length),
    nextAtMs: (nowMs) => {
      const now = new Date(nowMs)
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
    },
    keptMs: DAY_MS,
    nextWords: 'when the next month begins in UTC',
  },
}
