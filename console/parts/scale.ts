/** The ticks of an axis from 0: at most five, at 1, 2 or 5 times a power of ten; whole ones for counts. */
export function ticksTo(most: number, isWhole = false): number[] {
  if (!(most > 0)) return [0, 1]
  const power = Math.max(isWhole ? 1 : 0, 10 ** Math.floor(Math.log10(most / 4)))
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => most / size <= 4) ?? 10 * power
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step)
}

const SUFFIXES = [
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** `1.5 k`, `250` or `0.004`, without the noise of a float. */
export function tickText(value: number): string {
  const [size, suffix] = SUFFIXES.find(([least]) => value >= least) ?? [1, '']
  return `${Number((value / size).toPrecision(3))}${suffix && ` ${suffix}`}`
}
