const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** The time since a moment, in its largest unit; other clocks may be ahead of ours. */
export function agoText(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at)
  for (const [unit, length] of UNITS) {
    const count = Math.floor(ms / length)
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`
  }
  return 'less than a minute ago'
}
