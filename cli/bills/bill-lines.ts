import { DAY_MS, isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { scaledNumber, wholeNumberIn } from '../reading/exact-number.ts'
import type { Bill, BillLine } from './bill.ts'
import { KNOWN_BILLS, MAPPINGS, type Mapping, type Row } from './mappings.ts'

const LATEST_SECONDS = 100_000_000_000

/** Adds up the rows of one bill. */
export function openBill() {
  const seen = new Set<string>()
  const lines: BillLine[] = []
  const days: string[] = []
  let form: Bill['form'] | undefined
  let leftOut = 0
  return { add, read }

  function add(row: Row, where: string, results?: Iterable<Row>): void {
    const mapping = MAPPINGS.find(({ needs }) => needs.every((name) => Object.hasOwn(row, name)))
    if (!mapping) throw new CliError(`${where} is no line of ${KNOWN_BILLS}.`)
    form ??= mapping.form
    if (form !== mapping.form) throw new CliError(`${where} is of another bill (${mapping.form}) than those before it.`)
    if (mapping.isByDay) addDay(mapping, row, where, results)
    else if (mapping.isUsage?.(row) === false) leftOut += 1
    else lines.push(lineOf(mapping, row, dayOf(mapping, row, where), where))
    once(mapping.nameOf?.(row), where)
  }

  function addDay(mapping: Mapping, row: Row, where: string, results: Iterable<Row> | undefined): void {
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

  function read(): Bill {
    if (form) return { form, lines, leftOut, ...(days.length > 0 && { days }) }
    throw new CliError(`There is no line of ${KNOWN_BILLS}.`)
  }
}

function lineOf({ model, amount, isInCents, currency }: Mapping, row: Row, day: string, where: string): BillLine {
  // A credit is a dollar, so no other currency can be compared.
  if (currency !== undefined && row[currency]?.trim().toUpperCase() !== 'USD') {
    throw new CliError(`${where} is in the currency ${shown(row[currency])}. Only bills in USD can be compared.`)
  }
  const atto = scaledNumber(row[amount]?.trim(), isInCents ? 16 : 18)
  if (atto === undefined) throw new CliError(`${where} has the amount ${shown(row[amount])}, which is no number.`)
  return { day, model: model(row) || undefined, atto }
}

/** The UTC day of a row. A day of another zone is two halves of days here. */
function dayOf({ start, end, isInSeconds, isByDay }: Mapping, row: Row, where: string): string {
  const moment = (name: string) => momentOf(row[name]?.trim() ?? '', isInSeconds === true, where)
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

const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|UTC| UTC|[+-]\d{2}:?\d{2})?)?$/

/** Without a zone it is UTC, as in the bills of OpenRouter and AWS. */
function momentOf(text: string, isInSeconds: boolean, where: string): number {
  const seconds = isInSeconds ? wholeNumberIn(text, 0, LATEST_SECONDS) : undefined
  if (seconds !== undefined) return seconds * 1000
  const [, day, time = '00:00', zone = 'Z'] = MOMENT.exec(text) ?? []
  const offset = /^[+-]/.test(zone) ? zone.replace(/(\d{2}):?(\d{2})$/, '$1:$2') : 'Z'
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T${time.slice(0, 12)}${offset}`)
  // JavaScript reads 30 February as 2 March.
  const isReal = ms >= 0 && new Date(Date.parse(`${day}T00:00:00Z`)).toISOString().startsWith(day ?? '')
  if (isReal) return ms
  throw new CliError(`${where} has the time ${shown(text)}, which is none.`)
}

function shown(text = ''): string {
  return `'${text.slice(0, 40)}'`
}
