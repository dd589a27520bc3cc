import { type Output, plainJson, plainLine } from '../gateway/domain/basics/plain-text.ts'
import { formatCredits, parseSignedCredits } from '../gateway/domain/money/money.ts'
import type { Screen, Style } from './terminal.ts'

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

export type Cell = string | number | bigint | boolean | object | null | undefined

export function cellText(cell: Cell): string {
  if (cell === undefined || cell === null || cell === '') return '-'
  if (typeof cell === 'object') return plainLine(JSON.stringify(cell))
  return typeof cell === 'bigint' ? formatCredits(cell) : plainLine(String(cell))
}

/** Fields that no table and no list of fields has, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  object: 'the kind, which is the same in every row',
  ok: 'the result, or the findings, tell it',
}

/** The fields that are not read: in full each has a column of its own, so that none is forgotten. */
function restOf<Row extends object>({ width }: Partial<Screen>, rows: readonly Row[], told = (_: Row): unknown => _) {
  const all = rows.flatMap(Object.keys)
  const read = new Set(width === undefined ? Object.keys(LEFT_OUT) : all)
  const get = (row: Row, name: string | symbol) => read.add(String(name)) && Reflect.get(row, name)
  for (const row of rows) told(new Proxy(row, { get }))
  return [...new Set(all).difference(read)].map((name) => {
    return { heading: headingOf(name), of: (row: Row) => Reflect.get(row, name) as Cell }
  })
}

type Told<Row> = (row: Row) => Readonly<Record<string, Cell>>

/** Fields of one row, some of them told in words; without words all of them. */
export function printFields<Row extends object>(screen: Screen, row: Row, told?: Told<Row>): void {
  const { painted, paint } = screen
  const rest = restOf(told ? screen : {}, [row], told).map(({ heading, of }) => [heading, of(row)])
  const fields: ReturnType<Told<Row>> = { ...told?.(row), ...Object.fromEntries(rest) }
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  for (const [name, value] of Object.entries(fields)) {
    painted(`${paint.dim(name.padEnd(width))}  ${cellText(value)}`)
  }
}

type Column<Row> = {
  readonly of: (row: Row) => Cell
  /** A shorter cell, for example a name in place of an id; false leaves the column to --wide. */
  readonly short?: ((row: Row) => Cell) | false
  /** The shorter cell is for a terminal only: programs read a pipe. */
  readonly isForPeople?: true
  /** Left out on a terminal that is too narrow for it. */
  readonly isSpare?: true
  /** Never shortened, as an id that is to be copied. */
  readonly isWhole?: true
  readonly isSummed?: true
  readonly style?: (row: Row) => Style | undefined
}

/** The names are the headings. A function alone is a column without options. */
type Columns<Row> = Readonly<Record<string, Column<Row> | ((row: Row) => Cell)>>

type Shown<Row> = Column<Row> & {
  readonly heading: string
  readonly width: number
  readonly isNumber: boolean
  /** No text is shortened to less, and no number among texts at all. */
  readonly leastWidth: number
}

const GAP = '  '
/** Amounts of the admin API are decimal strings. */
const NUMBER = /^-?\d+(\.\d+)?( %)?$/
const LEAST_WIDTH = 8

export function wide<Row>(of: (row: Row) => Cell): Column<Row> {
  return { of, short: false }
}

export function summed<Row>(of: (row: Row) => Cell): Column<Row> {
  return { of, isSummed: true }
}

/** Columns of fields, under their own names. */
export function fields<Name extends string>(...names: readonly Name[]) {
  return columnsOf(names, (of) => ({ of }))
}

export function sums<Name extends string>(...names: readonly Name[]) {
  return columnsOf(names, summed)
}

type Cells<Name extends string> = { readonly [Field in Name]: Cell }
type Made<Name extends string> = (of: (row: Cells<Name>) => Cell) => Column<Cells<Name>>

function columnsOf<Name extends string>(names: readonly Name[], made: Made<Name>) {
  return Object.fromEntries(names.map((name) => [headingOf(name), made((row) => row[name])]))
}

const headingOf = (name: string) => name.replaceAll('_', ' ')

type Place = { readonly out: Screen; readonly json: boolean }
type Rows<Row> = { readonly data: readonly Row[] }

/** The list as it is with --json, otherwise its rows. */
export function printList<Row extends object>({ out, json }: Place, list: Rows<Row>, columns: Columns<Row>): void {
  if (json) printJson(out, list)
  else printTable(out, list.data, columns)
}

/** On a terminal within its width and with sums, otherwise whole. */
export function printTable<Row extends object>(screen: Screen, rows: readonly Row[], columns: Columns<Row>): void {
  const shown = fitted(shownColumns(screen, rows, columns), screen.width)
  const { painted, paint, isTerminal } = screen
  painted(paint.dim(lineOf(shown, ({ heading }) => heading)))
  for (const row of rows) {
    const styled = (text: string, { style }: Shown<Row>) => {
      const by = style?.(row)
      return by ? paint[by](text) : text
    }
    painted(lineOf(shown, ({ of }) => cellText(of(row)), styled))
  }
  if (isTerminal && rows.length > 1 && shown.some(({ isSummed }) => isSummed)) {
    painted(paint.strong(lineOf(shown, (column, i) => totalText(column, i, rows))))
  }
}

function shownColumns<Row extends object>(screen: Screen, rows: readonly Row[], columns: Columns<Row>): Shown<Row>[] {
  const { width, isTerminal } = screen
  const told = Object.entries(columns).map(([heading, column]) => ({
    heading,
    ...(typeof column === 'function' ? { of: column } : column),
  }))
  const isNarrow = width !== undefined
  const given: (Column<Row> & { heading: string })[] = [
    ...told,
    ...restOf(screen, rows, (row) => told.map(({ of }) => of(row))),
  ]
  const shown = given.filter(({ short }) => !(isNarrow && short === false))
  return shown.map(({ short, ...column }, i) => {
    const of = (isNarrow && (isTerminal || !column.isForPeople) && short) || column.of
    const cells = rows.map(of)
    const total = isTerminal ? totalText({ ...column, of }, i, rows) : ''
    const texts = [column.heading, ...cells.map(cellText), total]
    return {
      ...column,
      of,
      width: widest(texts),
      leastWidth: Math.max(LEAST_WIDTH, widest(texts.filter((text) => NUMBER.test(text)))),
      isNumber: cells.length > 0 && cells.every((cell) => NUMBER.test(String(cell))),
    }
  })
}

const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length), 0)

/** Spare columns give way, from the right, and then the widest text, a character at a time. */
function fitted<Row>(columns: readonly Shown<Row>[], width = Number.POSITIVE_INFINITY): readonly Shown<Row>[] {
  const widths = columns.map((column) => column.width)
  let excess = widths.reduce((sum, one) => sum + one, GAP.length * (columns.length - 1)) - width
  const spare = columns.findLastIndex(({ isSpare }) => isSpare)
  if (excess > 0 && spare >= 0) return fitted(columns.toSpliced(spare, 1), width)
  for (; excess > 0; excess--) {
    const texts = columns.map(({ isNumber, isWhole, leastWidth }, i) => {
      const one = widths[i] ?? 0
      return isNumber || isWhole || one <= leastWidth ? 0 : one
    })
    const most = Math.max(...texts)
    if (most === 0) break
    widths[texts.indexOf(most)] = most - 1
  }
  return columns.map((column, i) => ({ ...column, width: widths[i] ?? 0 }))
}

function lineOf<Row>(
  columns: readonly Shown<Row>[],
  textOf: (column: Shown<Row>, index: number) => string,
  paint: (text: string, column: Shown<Row>) => string = (text) => text,
): string {
  const cells = columns.map((column, i) => {
    const text = shortened(textOf(column, i), column.width)
    const space = ' '.repeat(column.width - text.length)
    return column.isNumber ? space + paint(text, column) : paint(text, column) + space
  })
  return cells.join(GAP).trimEnd()
}

export function shortened(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text
}

function totalText<Row>({ of, isSummed }: Column<Row>, index: number, rows: readonly Row[]): string {
  if (!isSummed) return index === 0 ? 'total' : ''
  return formatCredits(rows.reduce((sum, row) => sum + (parseSignedCredits(cellText(of(row))) ?? 0n), 0n))
}

/** A mistake that the person at the terminal can mend. Its message is all they see. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
