import { type Fault, faultOf } from '../../domain/basics/gateway-error.ts'
import type { Nano } from '../../domain/money/money.ts'
import { isRequest, type UsageRow } from '../../domain/rows/usage-row.ts'
import { METRICS_NAMESPACE } from '../../names.ts'

type RowMetric = {
  readonly name: string
  readonly unit: Unit
  /** Undefined if a request has no such figure. */
  readonly of: (row: UsageRow) => number | undefined
  /** Its dimensions. CloudWatch charges for each value. */
  readonly by?: readonly ('model' | 'provider' | 'errorCode' | 'version')[]
}

export const creditsIn = (nano: Nano) => Number(nano) / 1e9

/** The end of a request, as its row has it. */
export type Answer = { readonly errorCode?: string | undefined }

/** Also of a stream that broke after its status was sent. */
const has = (fault: Fault, { errorCode }: Answer) => errorCode !== undefined && faultOf(errorCode) === fault

export const isServers = (answer: Answer) => has('broken', answer)

/** Only for answers: the basis of their charge, and if it covers their cost to us. */
const ofAnswers = (of: (row: UsageRow) => number | undefined) => (row: UsageRow) =>
  row.usageSource === 'none' ? undefined : of(row)

/** A count of nothing is left out: alarms and sums take a missing figure for 0, and every byte of a log costs. */
const ifSo = (isSo: boolean | undefined) => (isSo ? 1 : undefined)

const counted = ({ alsoRefused = 0 }: UsageRow) => 1 + alsoRefused

const OF_EVERY_CALL: readonly RowMetric[] = [
  { name: 'ServerErrors', unit: 'Count', of: (row) => ifSo(isServers(row)), by: ['version'] },
  { name: 'KeyBusy', unit: 'Count', of: (row) => ifSo(row.errorCode === 'key_busy') },
]
/** Calls that ask no model are no requests. */
const OF_CALLS: readonly RowMetric[] = [{ name: 'Calls', unit: 'Count', of: counted }, ...OF_EVERY_CALL]
const OF_REQUESTS: readonly RowMetric[] = [
  ...OF_EVERY_CALL,
  { name: 'Requests', unit: 'Count', of: counted, by: ['model', 'provider'] },
  { name: 'Errors', unit: 'Count', of: (row) => ifSo(row.errorCode !== undefined), by: ['errorCode'] },
  { name: 'Refusals', unit: 'Count', of: (row) => ifSo(has('refused', row)) },
  { name: 'UpstreamErrors', unit: 'Count', of: (row) => ifSo(has('failed', row)) },
  { name: 'Duration', unit: 'Milliseconds', of: (row) => row.durationMs },
  { name: 'TimeToFirstToken', unit: 'Milliseconds', of: (row) => row.ttftMs, by: ['model', 'provider'] },
  { name: 'PromptTokens', unit: 'Count', of: (row) => row.promptTokens, by: ['model'] },
  { name: 'CompletionTokens', unit: 'Count', of: (row) => row.completionTokens, by: ['model'] },
  { name: 'Credits', unit: 'None', of: (row) => creditsIn(row.cost), by: ['model'] },
  { name: 'CreditsHeld', unit: 'None', of: (row) => creditsIn(row.hold) },
  { name: 'RoughEstimates', unit: 'Count', of: ofAnswers((row) => ifSo(row.estimatedBy === 'characters')) },
  { name: 'UsageRejected', unit: 'Count', of: ofAnswers((row) => ifSo(row.usageRejected)) },
  { name: 'BilledAtBound', unit: 'Count', of: ofAnswers((row) => ifSo(row.usageCapped)) },
  {
    name: 'UpstreamCost',
    unit: 'None',
    of: ofAnswers(({ upstreamCost }) => (upstreamCost === undefined ? undefined : creditsIn(upstreamCost))),
  },
  { name: 'Loss', unit: 'None', of: ({ loss }) => (loss === undefined ? undefined : creditsIn(loss)) },
  {
    name: 'NegativeMargins',
    unit: 'Count',
    of: ofAnswers(({ upstreamCost, cost }) => ifSo(upstreamCost !== undefined && upstreamCost > cost)),
  },
]

const metricsFor = (row: UsageRow) => (isRequest(row) ? OF_REQUESTS : OF_CALLS)

/** There are few kinds of rows, by the figures that they have; each is described once. */
const described = new Map<number, string>()

/** A row's figures as fields of a JSON object, and their description for CloudWatch as JSON. */
export function metricsOf(row: UsageRow): { readonly fields: string; readonly description: string } {
  let fields = ''
  let kind = 1
  for (const { name, of } of metricsFor(row)) {
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

/** Metrics with the same breakdowns share a description. */
function describe(row: UsageRow): object[] {
  const groups = Object.groupBy(
    metricsFor(row).filter(({ of }) => of(row) !== undefined),
    ({ by = [] }) => by.join(),
  )
  return Object.values(groups).map((metrics = []) =>
    describeMetrics(metrics, [], ...(metrics[0]?.by ?? []).map((field) => [field])),
  )
}

export type Unit = 'Count' | 'Milliseconds' | 'None'

/**
 * Tells CloudWatch which fields of a line are metrics of the stage (embedded metric format), and their dimensions: each
 * metric counts once for each set of them. Most of a line is this, so nothing is said twice, and no unit for none.
 */
export function describeMetrics(
  metrics: readonly { name: string; unit: Unit }[],
  ...sets: readonly (readonly string[])[]
): object {
  return {
    Namespace: METRICS_NAMESPACE,
    Dimensions: sets.map((by) => ['stage', ...by]),
    Metrics: metrics.map(({ name, unit }) => (unit === 'None' ? { Name: name } : { Name: name, Unit: unit })),
  }
}
