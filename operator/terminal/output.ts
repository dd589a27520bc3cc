import { formatCredits } from '../../layers/gateway/domain/money.ts'
import { type Output, plainJson, plainLine } from '../../layers/gateway/domain/plain-text.ts'

/** With --json: one JSON value and nothing else. Money is a decimal string of credits there as everywhere. */
export function printJson(out: Output, value: unknown): void {
  out.log(plainJson(JSON.stringify(value, creditsInJson, 2)))
}

function creditsInJson(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? formatCredits(value) : value
}

type Cell = string | number | bigint | boolean | null | undefined

/** Columns by their headings. */
export function printTable<Row>(
  out: Output,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): void {
  const headings = Object.keys(columns)
  const cells = rows.map((row) => Object.values(columns).map((of) => of(row)))
  const lines = [headings, ...cells.map((line) => line.map(cellText))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const isNumber = headings.map((_, column) => cells.length > 0 && cells.every((line) => isNumeric(line[column])))
  for (const line of lines) {
    const padded = line.map((cell, column) => {
      const width = widths[column] ?? 0
      return isNumber[column] ? cell.padStart(width) : cell.padEnd(width)
    })
    out.log(padded.join('  ').trimEnd())
  }
}

export function printFields(out: Output, fields: Readonly<Record<string, Cell>>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, value] of Object.entries(fields)) out.log(`${name.padEnd(width)}  ${cellText(value)}`)
}

/** Amounts of the admin API are decimal strings. */
function isNumeric(cell: Cell): boolean {
  return /^-?\d+(\.\d+)?$/.test(String(cell))
}

function cellText(cell: Cell): string {
  if (cell === undefined || cell === null || cell === '') return '-'
  return typeof cell === 'bigint' ? formatCredits(cell) : plainLine(String(cell))
}
