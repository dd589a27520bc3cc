import { formatCredits } from '../../layers/gateway/domain/money.ts'
import { type Output, plainJson, plainLine } from '../../layers/gateway/domain/plain-text.ts'

/** With --json: one JSON value and nothing else. Money is a decimal string of credits there as everywhere. */
export function printJson(out: Output, value: unknown): void {
  out.log(plainJson(JSON.stringify(value, creditsInJson, 2)))
}

export function jsonLine(value: unknown): string {
  return JSON.stringify(value, creditsInJson)
}

function creditsInJson(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? formatCredits(value) : value
}

type Cell = string | number | bigint | boolean | null | undefined

export function printTable(out: Output, headings: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines = [headings, ...rows.map((row) => row.map(cellText))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const isNumber = headings.map((_, column) => rows.length > 0 && rows.every((row) => isNumeric(row[column])))
  for (const line of lines) {
    const cells = line.map((cell, column) => {
      const width = widths[column] ?? 0
      return isNumber[column] ? cell.padStart(width) : cell.padEnd(width)
    })
    out.log(cells.join('  ').trimEnd())
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
