import { type Output, plainJson, plainLine } from '../gateway/domain/basics/plain-text.ts'
import { formatCredits } from '../gateway/domain/money/money.ts'
import type { Screen } from './terminal.ts'

/** One JSON value and nothing else. Money is a decimal string of credits there as everywhere. */
export function printJson(out: Output, value: unknown): void {
  out.log(jsonText(value, 2))
}

/** A value on a line of its own, for a reader that takes lines as they come. */
export function printJsonLine(out: Output, value: unknown): void {
  out.log(jsonText(value))
}

type Printed = { readonly out: Output; readonly json: boolean | undefined }

/** The value itself with --json, otherwise words about it. */
export function printValue({ out, json }: Printed, value: unknown, words: string): void {
  if (json) printJson(out, value)
  else out.log(words)
}

function jsonText(value: unknown, indent?: number): string {
  return plainJson(JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? formatCredits(it) : it), indent))
}

export type Cell = string | number | bigint | boolean | null | undefined

export function cellText(cell: Cell): string {
  if (cell === undefined || cell === null || cell === '') return '-'
  return typeof cell === 'bigint' ? formatCredits(cell) : plainLine(String(cell))
}

export function printFields({ painted, paint }: Screen, fields: Readonly<Record<string, Cell>>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, value] of Object.entries(fields)) {
    painted(`${paint.dim(name.padEnd(width))}  ${cellText(value)}`)
  }
}
