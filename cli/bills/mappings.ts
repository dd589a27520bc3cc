import type { BillForm } from '../reading/known-providers.ts'

/** A row of CSV, or an entry of JSON with all that stands in it, by `plainName`. A value that is no text is empty. */
export type Row = Readonly<Record<string, string | undefined>>

/** One name for both versions of AWS's report, in which `lineItem/UsageType` is `line_item_usage_type`. */
export function plainName(heading: string): string {
  return heading.toLowerCase().replace(/[^a-z0-9]/g, '')
}

export type Mapping = {
  readonly form: BillForm
  readonly start: string
  /** A row that has its start and all of these is of this bill. */
  readonly needs: readonly string[]
  readonly end?: string
  readonly isInSeconds?: true
  /** True if entries are whole days, with the rows of each in `results`. */
  readonly isByDay?: true
  /** The name of a row, which must not come twice; undefined if it has none. */
  readonly nameOf?: (row: Row) => string | undefined
  readonly isUsage?: (row: Row) => boolean
  readonly model: (row: Row) => string | undefined
  readonly amount: string
  readonly isInCents?: true
  readonly currency?: string
}

export const KNOWN_BILLS =
  'a bill of OpenAI (costs), Anthropic (cost report), OpenRouter (activity) or AWS (cost and usage report, with UsageStartDate, ProductCode, UsageType, UnblendedCost and CurrencyCode of lineItem)'

export const MAPPINGS: readonly Mapping[] = [
  // `GET /v1/organization/costs`, best with `group_by=line_item`.
  {
    form: 'OpenAI',
    start: 'starttime',
    needs: ['endtime', 'results'],
    end: 'endtime',
    isInSeconds: true,
    isByDay: true,
    // The model of "priority | gpt-5-2025-08-07, cached input"; anything else, such as a tool, stays whole.
    model: ({ lineitem = '' }) =>
      /^(?:[^,|]*\|\s*)?([\w.:-]+)(?: (?:audio|image|text))?,/.exec(lineitem)?.[1] ?? lineitem,
    amount: 'amountvalue',
    currency: 'amountcurrency',
  },
  // `GET /v1/organizations/cost_report`, best with `group_by[]=description`.
  {
    form: 'Anthropic',
    start: 'startingat',
    needs: ['endingat', 'results'],
    end: 'endingat',
    isByDay: true,
    model: ({ model, description }) => model || description,
    amount: 'amount',
    isInCents: true,
    currency: 'currency',
  },
  // Cost and usage reports of either version.
  {
    form: 'AWS',
    start: 'lineitemusagestartdate',
    needs: ['lineitemproductcode', 'lineitemusagetype', 'lineitemunblendedcost', 'lineitemcurrencycode'],
    end: 'lineitemusageenddate',
    nameOf: ({ identitylineitemid: id, identitytimeinterval }) => id && `${id} ${identitytimeinterval}`,
    isUsage: isBedrock,
    model: bedrockModel,
    amount: 'lineitemunblendedcost',
    currency: 'lineitemcurrencycode',
  },
  // The activity by generations, as the page exports it.
  {
    form: 'OpenRouter',
    start: 'createdat',
    needs: ['costtotal', 'modelpermaslug'],
    nameOf: ({ generationid }) => generationid,
    model: ({ modelpermaslug }) => modelpermaslug,
    amount: 'costtotal',
  },
  // The activity by days, a model and the endpoint that served it, as the API and the page have it.
  {
    form: 'OpenRouter',
    start: 'date',
    needs: ['usage', 'model'],
    nameOf: ({ date, model, modelpermaslug, endpointid, providername, ...others }) =>
      [date, model, modelpermaslug, endpointid, providername, ...(endpointid ? [] : Object.values(others))].join(' '),
    model: ({ model, modelpermaslug }) => model || modelpermaslug,
    amount: 'usage',
  },
]

function isBedrock(row: Row): boolean {
  const isTheirs = /^AmazonBedrock/i.test(row.lineitemproductcode ?? '') || editionOf(row) !== undefined
  // These are no usage: they come on top of it, or are taken off the whole.
  return isTheirs && !/^(?:Tax|Credit|Refund|Fee)$/i.test(row.lineitemlineitemtype ?? '')
}

/** The product that a model of somebody else is sold as. */
function editionOf(row: Row): string | undefined {
  return /([\w. -]{1,80}) \(Amazon Bedrock Edition\)/.exec(Object.values(row).join('\n'))?.[1]
}

const TOKENS =
  /-(?:(?:mantle|cache|text|image|video|speech|batch|cross|read|write|input|output)-?)+(?:token|units|$).*$/i

/** Its resource names it, the product that it is sold as, or the kind of usage, of which the region and the tokens are no part. */
function bedrockModel(row: Row): string {
  const resource = /:(?:foundation-model|inference-profile)\/([\w.:-]+)$/.exec(row.lineitemresourceid ?? '')?.[1]
  const usage = (row.lineitemusagetype ?? '').replace(/^[A-Z]{2,4}\d{0,2}-/, '').replace(TOKENS, '')
  return resource ?? editionOf(row)?.trim() ?? usage
}
