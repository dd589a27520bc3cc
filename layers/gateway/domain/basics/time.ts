export const MINUTE_MS = 60 * 1000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const YEAR_10000_MS = 253_402_300_800_000

type Day = { readonly number: number; readonly text: string }

/** The last day with an even number and the last with an odd one: a request asks for today and yesterday several times. */
const lastDays: [Day, Day] = [/* @__PURE__ */ dayAt(0), /* @__PURE__ */ dayAt(1)]

export function utcDay(nowMs: number): string {
  const number = Math.floor(nowMs / DAY_MS)
  const parity = number & 1
  if (lastDays[parity]?.number !== number) lastDays[parity] = dayAt(number)
  return (lastDays[parity] as Day).text
}

/** The same text as by `toISOString`, in a tenth of the time. */
export function isoTime(ms: number): string {
  const time = Math.floor(ms) % DAY_MS
  if (!(time >= 0 && ms < YEAR_10000_MS)) return new Date(ms).toISOString()
  const seconds = Math.floor(time / 1000)
  return `${utcDay(ms)}T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(time % 1000).padStart(3, '0')}Z`
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

function dayAt(number: number): Day {
  return { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) }
}

export const MOMENT_WORDS = 'a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z'

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/** A UTC day, which stands for its first moment, or a moment, in milliseconds; undefined for another text. */
export function readMoment(text: string): number | undefined {
  const day = MOMENT.exec(text)?.[1]
  const ms = Date.parse(text)
  // JavaScript reads 30 February as 2 March.
  return day && ms >= 0 && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? ms : undefined
}
