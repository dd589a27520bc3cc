import { gunzipSync } from 'node:zlib'
import { CsvError, parse } from 'csv-parse/sync'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { at, type Exact, fieldsAt, isObject, itemsAt, readExactJson } from '../reading/exact-json.ts'
import { type Source, utf8Of } from '../reading/read-source.ts'
import type { Bill } from './bill.ts'
import { openBill } from './bill-lines.ts'
import { KNOWN_BILLS, plainName, type Row } from './mappings.ts'

/** `results` has the rows of an entry that is a day. */
type Take = (row: Row, where: string, results?: Iterable<Row>) => void

/** One bill, in one file or several, in their order. */
export function readBill(sources: readonly Source[], mostBytes: number): Bill {
  const bill = openBill()
  let last: Page | undefined
  for (const source of sources) {
    const text = utf8Of(unpacked(source, mostBytes))
    if (/^\s*[[{]/.test(text)) last = readPages(text, source.name, bill.add)
    else readTable(text, source.name, bill.add)
  }
  // Pages are given in their order, so that the last one says whether there are more.
  if (!last || (at(last.page, 'has_more') !== true && !at(last.page, 'next_page'))) return bill.read()
  throw new CliError(`${last.name} is not the last page of the bill: get the pages after it, too (next_page).`)
}

type Page = { readonly page: Exact; readonly name: string }

/** A page, or a list of pages. Returns the last one. */
function readPages(text: string, file: string, take: Take): Page | undefined {
  const value = readExactJson(text, file)
  const pages: readonly Page[] = Array.isArray(value)
    ? value.map((page, i) => ({ page, name: `${file}, page ${i + 1}` }))
    : [{ page: value, name: file }]
  for (const { page, name } of pages) {
    if (!Array.isArray(at(page, 'data'))) throw new CliError(`${name} has no list 'data', as bills have.`)
    for (const [i, entry] of itemsAt(page, 'data').entries()) {
      const results = at(entry, 'results')
      take(rowOf(entry), `${name}, entry ${i + 1},`, Array.isArray(results) ? results.values().map(rowOf) : undefined)
    }
  }
  return pages.at(-1)
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
      columns: (headings) => columnsOf(headings, name),
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

function columnsOf(headings: readonly string[], name: string): string[] {
  const columns = headings.map(plainName)
  if (new Set(columns).size === columns.length) return columns
  throw new CliError(`${name} has two columns of the same name.`)
}

/** The library's words quote the text. */
function csvFault({ code, record, columns, lines }: CsvError, row: number): string {
  if (code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') {
    return `has a quote that is not closed, or stands within a cell (line ${lines}).`
  }
  const [cells, headings] = [record, columns].map((list) => (Array.isArray(list) ? list.length : 0))
  return `has ${cells} cells in its row ${row}, not ${headings}: it was cut off.`
}

function unpacked({ bytes, name }: Source, mostBytes: number): Pick<Source, 'bytes' | 'name'> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return { bytes, name }
  try {
    return { bytes: gunzipSync(bytes, { maxOutputLength: mostBytes }), name }
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    const why = isLarge ? `has more than ${mostBytes / 1024 / 1024} MB` : 'is not whole, or damaged'
    throw new CliError(`${name}, unpacked, ${why}.`)
  }
}
