import { DAY_MS } from '../../layers/gateway/domain/time.ts'
import { wholeNumberIn } from '../reading/exact-number.ts'
import { itemsOf, type JsonNode, nodeAt, textOf } from '../reading/json-nodes.ts'
import { CliError } from '../terminal/cli-error.ts'
import { amountOf, type Bill, type BillForm, type BillLine, dayOf, momentOf, onceOnly, requireDollars } from './bill.ts'

/** A page of JSON, and the file that it came from. */
export type Page = { readonly node: JsonNode; readonly name: string }

type Bucketed = {
  /** The beginning and the end, in milliseconds. */
  readonly period: (bucket: JsonNode, where: string) => readonly [number, number]
  readonly line: (result: JsonNode, where: string) => Omit<BillLine, 'day'>
}

const LATEST_SECONDS = 100_000_000_000

/** `GET /v1/organization/costs`, best with `group_by=line_item`. Dollars. */
const OPENAI: Bucketed = {
  period(bucket, where) {
    const [from, to] = ['start_time', 'end_time'].map((name) => textOf(nodeAt(bucket, name)))
    const seconds = [from, to].map((text) => wholeNumberIn(text, 0, LATEST_SECONDS))
    if (seconds[0] === undefined || seconds[1] === undefined) {
      throw new CliError(`${where} has the times '${from?.slice(0, 40)}' and '${to?.slice(0, 40)}', which are none.`)
    }
    return [seconds[0] * 1000, seconds[1] * 1000]
  },
  line(result, where) {
    requireDollars(textOf(nodeAt(result, 'amount', 'currency')), where)
    const item = textOf(nodeAt(result, 'line_item'))
    return { model: item && openAiModel(item), atto: amountOf(textOf(nodeAt(result, 'amount', 'value')), 18, where) }
  },
}

/** Of "priority | gpt-5-2025-08-07, cached input" the model; of anything else, such as a tool, all. */
function openAiModel(item: string): string {
  return /^(?:[^,|]*\|\s*)?([\w.:-]+)(?: (?:audio|image|text))?,/.exec(item)?.[1] ?? item
}

/** `GET /v1/organizations/cost_report`, best with `group_by[]=description`. Cents. */
const ANTHROPIC: Bucketed = {
  period: (bucket, where) => [
    momentOf(textOf(nodeAt(bucket, 'starting_at')), where),
    momentOf(textOf(nodeAt(bucket, 'ending_at')), where),
  ],
  line(result, where) {
    requireDollars(textOf(nodeAt(result, 'currency')), where)
    const model = textOf(nodeAt(result, 'model')) ?? textOf(nodeAt(result, 'description'))
    return { model, atto: amountOf(textOf(nodeAt(result, 'amount')), 16, where) }
  },
}

/** Undefined if it is a bill of none that is known. */
export function jsonForm({ node }: Page): BillForm | undefined {
  const first = itemsOf(nodeAt(node, 'data'))[0]
  if (nodeAt(first, 'start_time')) return 'OpenAI'
  if (nodeAt(first, 'starting_at')) return 'Anthropic'
  return nodeAt(first, 'usage') && nodeAt(first, 'date') ? 'OpenRouter' : undefined
}

export function jsonBill(form: BillForm, pages: readonly Page[]): Bill {
  if (form === 'OpenRouter') return openRouterBill(pages)
  return bucketBill(form, form === 'OpenAI' ? OPENAI : ANTHROPIC, pages)
}

function bucketBill(form: BillForm, { period, line }: Bucketed, pages: readonly Page[]): Bill {
  requireLast(pages)
  const once = onceOnly()
  const days: string[] = []
  const lines = entriesOf(pages).flatMap(({ node, where }) => {
    const [fromMs, toMs] = period(node, where)
    const day = dayOf(fromMs, toMs, where)
    if (toMs - fromMs !== DAY_MS) throw new CliError(`${where} is for less than a day. Ask for the bill by days.`)
    once(day, where)
    days.push(day)
    const results = nodeAt(node, 'results')
    if (results?.kind !== 'list') throw new CliError(`${where} has no results.`)
    return results.items.map((result, i) => ({ day, ...line(result, `${where}, result ${i + 1},`) }))
  })
  return { form, lines, days, leftOut: 0 }
}

/** Dollars; a day and a model, by the endpoint that served it. */
function openRouterBill(pages: readonly Page[]): Bill {
  const once = onceOnly()
  const lines = entriesOf(pages).map(({ node, where }) => {
    const text = (name: string) => textOf(nodeAt(node, name))
    const day = dayOf(momentOf(text('date'), where), undefined, where)
    once(['date', 'model_permaslug', 'model', 'endpoint_id', 'provider_name'].map(text).join(' '), where)
    return { day, model: text('model') ?? text('model_permaslug'), atto: amountOf(text('usage'), 18, where) }
  })
  return { form: 'OpenRouter', lines, leftOut: 0 }
}

function entriesOf(pages: readonly Page[]): { node: JsonNode; where: string }[] {
  return pages.flatMap(({ node, name }) => {
    const data = nodeAt(node, 'data')
    if (data?.kind !== 'list') throw new CliError(`${name} has no list 'data'.`)
    return data.items.map((item, i) => ({ node: item, where: `${name}, entry ${i + 1},` }))
  })
}

/** Pages are given in their order, so that the last one says whether there are more. */
function requireLast(pages: readonly Page[]): void {
  const last = pages.at(-1)
  const more = nodeAt(last?.node, 'has_more')
  const hasMore = more?.kind === 'flag' && more.text === 'true'
  if (!last || (!hasMore && !nodeAt(last.node, 'next_page'))) return
  throw new CliError(`${last.name} is not the last page of the bill: get the pages after it, too (next_page).`)
}
