import { CliError } from '../terminal/cli-error.ts'
import { amountOf, type Bill, type BillForm, type BillLine, dayOf, momentOf, onceOnly, requireDollars } from './bill.ts'
import { csvRecords } from './csv.ts'

/** A file of CSV, and its name. */
export type Table = { readonly text: string; readonly name: string }

type Row = ReadonlyMap<string, string>

function named(row: Row, ...headings: readonly string[]): string {
  return headings.map((heading) => row.get(heading)).join(' ')
}

/** How a table is recognised, and what a row of it says; undefined of a row that is no usage of a model. */
type TableForm = {
  readonly form: BillForm
  readonly needs: readonly string[]
  /** The name of a row, which must not come twice; undefined if the table has none. */
  readonly nameOf: (row: Row) => string | undefined
  readonly line: (row: Row, where: string) => BillLine | undefined
}

/** The activity by days, as the API has it, and the one by generations, as the page exports it. */
const ACTIVITY: TableForm = {
  form: 'OpenRouter',
  needs: ['date', 'usage', 'model'],
  nameOf: (row) =>
    row.has('endpointid') ? named(row, 'date', 'model', 'modelpermaslug', 'endpointid') : [...row.values()].join(' '),
  line: (row, where) => ({
    day: dayOf(momentOf(row.get('date'), where), undefined, where),
    model: row.get('model') || row.get('modelpermaslug'),
    atto: amountOf(row.get('usage'), 18, where),
  }),
}

const GENERATIONS: TableForm = {
  form: 'OpenRouter',
  needs: ['createdat', 'costtotal', 'modelpermaslug'],
  nameOf: (row) => row.get('generationid'),
  line: (row, where) => ({
    day: dayOf(momentOf(row.get('createdat'), where), undefined, where),
    model: row.get('modelpermaslug') || undefined,
    atto: amountOf(row.get('costtotal'), 18, where),
  }),
}

/** These are no usage: they come on top of it, or are taken off the whole. */
const NO_USAGE = /^(?:Tax|Credit|Refund|Fee)$/i

/** Cost and usage reports of either version: `lineItem/UsageType` is `line_item_usage_type`. */
const USAGE_REPORT: TableForm = {
  form: 'AWS',
  needs: [
    'lineitemusagestartdate',
    'lineitemproductcode',
    'lineitemusagetype',
    'lineitemunblendedcost',
    'lineitemcurrencycode',
  ],
  nameOf: (row) => row.get('identitylineitemid') && named(row, 'identitylineitemid', 'identitytimeinterval'),
  line(row, where) {
    const edition = BEDROCK_EDITION.exec([...row.values()].join('\n'))?.[1]
    const isBedrock = /^AmazonBedrock/i.test(row.get('lineitemproductcode') ?? '') || edition !== undefined
    if (!isBedrock || NO_USAGE.test(row.get('lineitemlineitemtype') ?? '')) return undefined
    requireDollars(row.get('lineitemcurrencycode'), where)
    const end = row.get('lineitemusageenddate')
    const startMs = momentOf(row.get('lineitemusagestartdate'), where)
    return {
      day: dayOf(startMs, end ? momentOf(end, where) : undefined, where),
      model: bedrockModel(row, edition),
      atto: amountOf(row.get('lineitemunblendedcost'), 18, where),
    }
  },
}

const BEDROCK_EDITION = /([\w. -]{1,80}) \(Amazon Bedrock Edition\)/
const RESOURCE = /:(?:foundation-model|inference-profile)\/([\w.:-]+)$/
const TOKENS =
  /-(?:(?:mantle|cache|text|image|video|speech|batch|cross|read|write|input|output)-?)+(?:token|units|$).*$/i

/** By its resource, by the product that it is sold as, or by the kind of usage, of which the region and the tokens are no part. */
function bedrockModel(row: Row, edition: string | undefined): string {
  const resource = RESOURCE.exec(row.get('lineitemresourceid') ?? '')?.[1]
  const usage = (row.get('lineitemusagetype') ?? '').replace(/^[A-Z]{2,4}\d{0,2}-/, '').replace(TOKENS, '')
  return resource ?? edition?.trim() ?? usage
}

const FORMS: readonly TableForm[] = [USAGE_REPORT, GENERATIONS, ACTIVITY]

/** The files of one bill, each with a header of its own. */
export function csvBill(tables: readonly Table[]): Bill {
  const once = onceOnly()
  const bills = tables.map((table) => readTable(table, once))
  const [first] = bills
  if (!first || bills.some(({ form }) => form !== first.form)) throw new CliError('The files are of different bills.')
  return {
    form: first.form,
    lines: bills.flatMap(({ lines }) => lines),
    leftOut: bills.reduce((sum, { leftOut }) => sum + leftOut, 0),
  }
}

function readTable({ text, name }: Table, once: ReturnType<typeof onceOnly>): Bill {
  const simpler = (heading: string) => heading.toLowerCase().replace(/[^a-z0-9]/g, '')
  const lines: BillLine[] = []
  let form: TableForm | undefined
  let count = 0
  for (const row of csvRecords(text, name, simpler)) {
    form ??= FORMS.find(({ needs }) => needs.every((heading) => row.has(heading)))
    if (!form) break
    const where = `${name}, row ${++count + 1},`
    const unique = form.nameOf(row)
    if (unique) once(unique, where)
    const line = form.line(row, where)
    if (line) lines.push(line)
  }
  if (form) return { form: form.form, lines, leftOut: count - lines.length }
  throw new CliError(`${name} has no rows of a bill of OpenRouter or AWS. Those of AWS need the columns ${COLUMNS}.`)
}

const COLUMNS = 'UsageStartDate, ProductCode, UsageType, UnblendedCost and CurrencyCode of lineItem'
