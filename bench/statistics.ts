/** The results of several rounds: the median and the range. */
export type Figure = { readonly median: number; readonly least: number; readonly most: number }

export function figureOf(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (i: number) => sorted[i] ?? Number.NaN
  return { median: at(Math.floor(sorted.length / 2)), least: at(0), most: at(sorted.length - 1) }
}

export function medianOf(values: readonly number[]): number {
  return figureOf(values).median
}

/** Round by round, because the machine's other work in a round fell on both alike. */
export function ratioOf(values: readonly number[], bases: readonly number[]): number {
  return medianOf(values.map((value, i) => value / (bases[i] ?? Number.NaN)))
}
