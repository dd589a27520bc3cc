/** A line of the table. A cell is empty if the bare proxy has no such figure. */
export type Row = { readonly what: string; readonly waybill: string; readonly bareProxy?: string }

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** `6,330`, `63.1` or `6.64`: three digits that mean something. */
export function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The median of the rounds, with the least and the most: `253 µs (241–270)` */
export function withSpread(values: readonly number[], unit: string): string {
  return `${number(medianOf(values))} ${unit} (${number(Math.min(...values))}–${number(Math.max(...values))})`
}

/** Figures in µs with their ratio to the bare proxy's, round by round: other work in a round fell on both alike. */
export function comparedRow(what: string, waybill: readonly number[], bareProxy: readonly number[]): Row {
  const ratio = medianOf(waybill.map((value, i) => value / (bareProxy[i] ?? Number.NaN)))
  return {
    what,
    waybill: `${withSpread(waybill, 'µs')}, **${number(ratio)}×**`,
    bareProxy: `${withSpread(bareProxy, 'µs')}, 1×`,
  }
}

export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}
