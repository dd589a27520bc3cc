/** The words for the texts that `readMoment` reads. */
export const MOMENT_WORDS = 'a UTC day such as 2026-11-01, or a moment such as 2026-11-01T12:30:00Z'

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/

/** A UTC day, which stands for its first moment, or a moment, in milliseconds; undefined for another text. */
export function readMoment(text: string): number | undefined {
  const day = MOMENT.exec(text)?.[1]
  const ms = Date.parse(text)
  // JavaScript reads 30 February as 2 March.
  return day && ms >= 0 && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? ms : undefined
}
