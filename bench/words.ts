import type { Figure } from './statistics.ts'

/** `6,330`, `63.1` or `6.64`: three digits that mean something. */
export function number(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** `253 µs (241–270)` */
export function withSpread({ median, least, most }: Figure, unit: string): string {
  return `${number(median)} ${unit} (${number(least)}–${number(most)})`
}

/** `25×` or `3.2×` */
export function times(ratio: number): string {
  return `${ratio >= 10 ? Math.round(ratio) : ratio.toFixed(1)}×`
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`
}

export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}
