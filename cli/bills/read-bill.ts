import { CsvError, parse } from 'csv-parse/sync'
import { DAY_MS, isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { at, type Exact, fieldsAt, isObject, itemsAt, readExactJson, utf8Of } from '../reading/exact.ts'
import type { BillForm } from '../reading/known-providers.ts'
import { looseMoment, scaledNumber, wholeNumberIn } from '../reading/numbers.ts'
import { KNOWN_BILLS, MAPPINGS, type Mapping, plainName, type Row } from './mappings.ts'

export type Bill = Awaited<ReturnType<typeof readBill>>
export type BillFile = { readonly name: string; readonly bytes: Uint8Array }

/** `results` has the rows of an entry that is a day. */
type Take = (row: Row, where: string, results?: Iterable<Row>) => void

export async function readBill(files: readonly BillFile[], mostBytes: number) {
  const lines: ReturnType<typeof lineOf>[] = []
  /** The days of a bill that has every day, also one without a cost; none of another bill. */
  const days: string[] = []
  let leftOut = 0
  const seen = new Set<string>()
  let form: BillForm | undefined
  let unfinished: string | undefined
  for (const { name, bytes } of files) {
    const text = utf8Of({ name, bytes: await unpacked(bytes, name, mostBytes) })
    if (/^\s*[[{]/.test(text)) unfinished = readPages(text, name, take)
    else readTable(text, name, take)
  }
  if (unfinished !== undefined) {
    throw new CliError(`${unfinished} is not the last page of the bill: get the pages after it, too (next_page).`)
  }
  if (!form) throw new CliError(`There is no line of ${KNOWN_BILLS}.`)
  return { form, lines, days, leftOut }

  function take(row: Row, where: string, results?: Iterable<Row>): void {
    const mapping = MAPPINGS.find(({ start, needs }) => [start, ...needs].every((name) => Object.hasOwn(row, name)))
    if (!mapping) throw new CliError(`${where} is no line of ${KNOWN_BILLS}.`)
    form ??= mapping.form
    if (form !== mapping.form) throw new CliError(`${where} is of another bill (${mapping.form}) than those before it.`)
    if (mapping.isByDay) takeDay(mapping, row, where, results)
    else if (mapping.isUsage?.(row) === false) leftOut += 1
    else lines.push(lineOf(mapping, row, dayOf(mapping, row, where), where))
    once(mapping.nameOf?.(row), where)
  }

  function takeDay(mapping: Mapping, row: Row, where: string, results: Iterable<Row> | undefined): void {
    const day = dayOf(mapping, row, where)
    once(day, where)
    days.push(day)
    if (!results) throw new CliError(`${where} has no results.`)
    let count = 0
    for (const result of results) lines.push(lineOf(mapping, result, day, `${where} result ${++count},`))
  }

  /** A file that is given twice, or two whose days overlap, would be added up twice. */
  function once(name: string | undefined, where: string): void {
    if (!name) return
    if (seen.has(name)) {
      throw new CliError(`${where} is in the bill twice (${name.slice(0, 80)}). Files must not overlap.`)
    }
    seen.add(name)
  }
}

/** Reads a page, or a list of pages. Returns the name of the last page if there are more after it. */
function readPages(text: string, file: string, take: Take): string | undefined {
  const value = readExactJson(text, file)
  const pages = Array.isArray(value)
    ? value.map((page: Exact, i) => ({ page, name: `${file}, page ${i + 1}` }))
    : [{ page: value, name: file }]
  for (const { page, name } of pages) {
    if (!Array.isArray(at(page, 'data'))) throw new CliError(`${name} has no list 'data', as bills have.`)
    for (const [i, entry] of itemsAt(page, 'data').entries()) {
      const results = at(entry, 'results')
      take(rowOf(entry), `${name}, entry ${i + 1},`, Array.isArray(results) ? results.values().map(rowOf) : undefined)
    }
  }
  const last = pages.at(-1)
  return at(last?.page, 'has_more') === true || at(last?.page, 'next_page') ? last?.name : undefined
}

function rowOf(entry: Exact): Row {
  const fields = fieldsAt(entry).flatMap(([name, value]) =>
    isObject(value) ? fieldsAt(value).map(([inner, one]) => [name + inner, one] as const) : [[name, value] as const],
  )
  return Object.fromEntries(fields.map(([name, value]) => [plainName(name), typeof value === 'string' ? value : '']))
}

function readTable(text: string, name: string, take: Take): void {
  let rows = 0
  try {
    parse<Row>(text, {
      columns(headings: readonly string[]) {
        const columns = headings.map(plainName)
        if (new Set(columns).size === columns.length) return columns
        throw new CliError(`${name} has two columns of the same name.`)
      },
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      // No row is kept.
      on_record(row) {
        rows += 1
        take(row, `${name}, row ${rows + 1},`)
        return null
      },
    })
  } catch (error) {
    throw error instanceof CsvError ? new CliError(`${name} ${csvFault(error, rows + 2)}`) : error
  }
  if (rows === 0) throw new CliError(`${name} has no row of ${KNOWN_BILLS}.`)
}

/** The library's words quote the text. */
function csvFault({ code, record, columns, lines }: CsvError, row: number): string {
  if (code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') {
    return `has a quote that is not closed, or stands within a cell (line ${lines}).`
  }
  const [cells, headings] = [record, columns].map((list) => (Array.isArray(list) ? list.length : 0))
  return `has ${cells} cells in its row ${row}, not ${headings}: it was cut off.`
}

async function unpacked(bytes: BillFile['bytes'], name: string, mostBytes: number): Promise<Uint8Array> {
  const tooLarge = `has more than ${mostBytes / 1024 / 1024} MB.`
  if (bytes.length > mostBytes) throw new CliError(`${name} ${tooLarge}`)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'))
    .getReader()
  const kept: Uint8Array<ArrayBuffer>[] = []
  for (let size = 0; ; ) {
    const { done, value } = await reader.read().catch(() => {
      throw new CliError(`${name}, unpacked, is not whole, or damaged.`)
    })
    if (done) return new Uint8Array(await new Blob(kept).arrayBuffer())
    size += value.length
    if (size > mostBytes) {
      await reader.cancel()
      throw new CliError(`${name}, unpacked, ${tooLarge}`)
    }
    kept.push(value)
  }
}

/** A line of one UTC day. Its model is undefined if the bill does not say it. */
function lineOf({ model, amount, isInCents, currency }: Mapping, row: Row, day: string, where: string) {
  // A credit is a dollar, so no other currency can be compared.
  if (currency !== undefined && row[currency]?.trim().toUpperCase() !== 'USD') {
    throw new CliError(`${where} is in the currency ${shown(row[currency])}. Only bills in USD can be compared.`)
  }
  // So many decimals that lines with a float's digits add up. Refunds are negative.
  const atto = scaledNumber(row[amount]?.trim(), isInCents ? 16 : 18)
  if (atto === undefined) throw new CliError(`${where} has the amount ${shown(row[amount])}, which is no number.`)
  return { day, model: model(row) || undefined, atto }
}

/** The UTC day of a row. A day of another zone is two halves of days here. */
function dayOf({ start, end, isInSeconds, isByDay }: Mapping, row: Row, where: string): string {
  const moment = (name: string) => {
    const text = row[name]?.trim() ?? ''
    const seconds = isInSeconds ? wholeNumberIn(text, 0, 100_000_000_000) : undefined
    const ms = seconds === undefined ? looseMoment(text) : seconds * 1000
    if (ms === undefined) throw new CliError(`${where} has the time ${shown(text)}, which is none.`)
    return ms
  }
  const fromMs = moment(start)
  const day = isoTime(fromMs).slice(0, 10)
  if (end === undefined || (!row[end] && !isByDay)) return day
  const toMs = moment(end)
  if (toMs <= fromMs || !isoTime(toMs - 1).startsWith(day)) {
    const period = `${isoTime(fromMs)} to ${isoTime(toMs)}`
    throw new CliError(`${where} is for ${period}, which is not within a UTC day. Ask for the bill by days in UTC.`)
  }
  if (!isByDay || toMs - fromMs === DAY_MS) return day
  throw new CliError(`${where} is for less than a day. Ask for the bill by days.`)
}

function shown(text = ''): string {
  return `'${text.slice(0, 40)}'`
}
