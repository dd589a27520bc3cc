import type { Nano } from '../domain/money.ts'
import type { UsageRow } from '../domain/usage-row.ts'
import { describeMetrics, type Unit } from './metric-description.ts'

/** The dimensions of the metrics. CloudWatch charges for each value. */
const BREAKDOWNS = ['model', 'provider', 'errorCode'] as const
type Breakdown = (typeof BREAKDOWNS)[number]

type RowMetric = {
  readonly name: string
  readonly unit: Unit
  /** Undefined if a request has no such figure. */
  readonly of: (row: UsageRow) => number | undefined
  readonly by?: readonly Breakdown[]
}

export const creditsIn = (nano: Nano) => Number(nano) / 1e9

/** A 5xx that the gateway only passes on: no upstream gave an answer. */
const isUpstreams = ({ httpStatus, errorCode }: UsageRow) =>
  httpStatus === 502 || httpStatus === 504 || (httpStatus === 503 && errorCode === 'upstream_rate_limited')

const isServers = (row: UsageRow) => row.httpStatus >= 500 && !isUpstreams(row)

/** Only for answers: the basis of their charge, and if it covers their cost to us. */
const ofAnswers = (of: (row: UsageRow) => number | undefined) => (row: UsageRow) =>
  row.usageSource === 'none' ? undefined : of(row)

const ROW_METRICS: readonly RowMetric[] = [
  { name: 'Requests', unit: 'Count', of: () => 1, by: ['model', 'provider'] },
  { name: 'Errors', unit: 'Count', of: (row) => (row.errorCode ? 1 : 0), by: ['errorCode'] },
  { name: 'ServerErrors', unit: 'Count', of: (row) => (isServers(row) ? 1 : 0) },
  { name: 'UpstreamErrors', unit: 'Count', of: (row) => (isUpstreams(row) ? 1 : 0) },
  { name: 'Duration', unit: 'Milliseconds', of: (row) => row.durationMs },
  { name: 'TimeToFirstToken', unit: 'Milliseconds', of: (row) => row.ttftMs, by: ['model', 'provider'] },
  { name: 'PromptTokens', unit: 'Count', of: (row) => row.promptTokens, by: ['model'] },
  { name: 'CompletionTokens', unit: 'Count', of: (row) => row.completionTokens, by: ['model'] },
  { name: 'Credits', unit: 'None', of: (row) => creditsIn(row.cost), by: ['model'] },
  { name: 'CreditsHeld', unit: 'None', of: (row) => creditsIn(row.hold) },
  { name: 'RoughEstimates', unit: 'Count', of: ofAnswers((row) => (row.estimatedBy === 'characters' ? 1 : 0)) },
  { name: 'UsageRejected', unit: 'Count', of: ofAnswers((row) => (row.usageRejected ? 1 : 0)) },
  { name: 'BilledAtBound', unit: 'Count', of: ofAnswers((row) => (row.usageCapped ? 1 : 0)) },
  {
    name: 'UpstreamCost',
    unit: 'None',
    of: ofAnswers(({ upstreamCost }) => (upstreamCost === undefined ? undefined : creditsIn(upstreamCost))),
  },
  {
    name: 'NegativeMargins',
    unit: 'Count',
    of: ofAnswers(({ upstreamCost, cost }) => (upstreamCost === undefined ? undefined : Number(upstreamCost > cost))),
  },
]

/** There are few kinds of rows, by the figures that they have and by their success; each is described once. */
const described = new Map<number, string>()

/** A row's figures as fields of a JSON object, and their description for CloudWatch as JSON. */
export function metricsOf(row: UsageRow): { readonly fields: string; readonly description: string } {
  let fields = ''
  let kind = row.errorCode ? 1 : 0
  for (const { name, of } of ROW_METRICS) {
    const value = of(row)
    kind *= 2
    if (value === undefined) continue
    kind += 1
    fields += fields === '' ? `"${name}":${value}` : `,"${name}":${value}`
  }
  let description = described.get(kind)
  if (description === undefined) {
    description = JSON.stringify(describe(row))
    described.set(kind, description)
  }
  return { fields, description }
}

function describe(row: UsageRow): object[] {
  const these = ROW_METRICS.filter(({ of }) => of(row) !== undefined)
  const breakdowns = BREAKDOWNS.filter((field) => field !== 'errorCode' || row.errorCode)
  return [
    describeMetrics(these),
    ...breakdowns.map((field) =>
      describeMetrics(
        these.filter(({ by }) => by?.includes(field)),
        field,
      ),
    ),
  ]
}
