import { METRICS_NAMESPACE } from './contract.ts'
import type { Nano } from './domain/money.ts'
import type { UpstreamFailure } from './domain/upstream-failure.ts'
import type { UsageRow } from './domain/usage-row.ts'

/** Tells the operator what happens. Nothing here takes a prompt, an answer or a secret. */
export type Log = {
  /** One line for every request that has a row. */
  request(row: UsageRow): void
  upstreamFailed(provider: string, failure: UpstreamFailure): void
  /** An answer that was given up and reached nobody. The provider may bill it, at most for this much. */
  unpaid(provider: string, costAtMost: Nano | undefined): void
  /** Something that should not happen. */
  problem(what: string, error: unknown, requestId: string): void
  /** A request that could not be settled: the sweep will finish it. */
  unsettled(error: unknown, requestId: string): void
  /** A request without a valid key, which has no row. */
  invalidKey(): void
  /** Dead requests that a sweep found and finished. */
  swept(count: number): void
  /** Days that a run has closed, and how many that have ended are left. */
  closed(days: number, behind: number): void
}

type Unit = 'Count' | 'Milliseconds' | 'None'
type Metric = readonly [name: string, value: number, unit: Unit]

/** Figures that are told apart by a field of the line, such as the model. CloudWatch asks money for each value. */
type Breakdown = { readonly by: string; readonly metrics: readonly Metric[] }

/** Whoever has no key must not be able to make a line with each request: the next line counts those since the last. */
const INVALID_KEYS_EVERY_MS = 10_000

/** One JSON line each. Those with figures carry them as CloudWatch metrics (embedded metric format). */
export function jsonLog(print: (line: string) => void, stage = 'local', clock: () => number = Date.now): Log {
  const describeMetrics = keptDescriptions()
  let invalidKeys = 0
  let quietUntilMs = 0
  function line(
    level: string,
    event: string,
    fields: object,
    metrics: readonly Metric[],
    more: Breakdown[] = [],
  ): void {
    const line: Record<string, unknown> = { level, event, stage, ...fields }
    for (const [name, value] of metrics) line[name] = value
    const description = `{"Timestamp":${clock()},"CloudWatchMetrics":${describeMetrics(metrics, more)}}`
    print(`${JSON.stringify(line).slice(0, -1)},"_aws":${description}}`)
  }
  const one = (name: string): Metric => [name, 1, 'Count']
  return {
    request: (row) => line('info', 'request', fieldsOf(row), metricsOf(row), breakdownsOf(row)),
    upstreamFailed: (provider, { reason, detail, message }) => {
      const failures = [one('UpstreamFailures')]
      const ours = reason === 'credential' ? [one('CredentialFailures')] : []
      const fields = { provider, reason, status: detail.status, message }
      line('warn', 'upstream_failed', fields, [...failures, ...ours], [{ by: 'provider', metrics: failures }])
    },
    unpaid: (provider, costAtMost) => {
      const answers = [one('UnpaidAnswers')]
      const cost: Metric[] = costAtMost === undefined ? [] : [['UnpaidCostAtMost', creditsIn(costAtMost), 'None']]
      line('warn', 'unpaid', { provider }, [...answers, ...cost], [{ by: 'provider', metrics: answers }])
    },
    problem: (what, error, requestId) =>
      line('error', 'problem', { requestId, what, error: describeError(error) }, [one('Problems')]),
    unsettled: (error, requestId) =>
      line('error', 'unsettled', { requestId, error: describeError(error) }, [one('Unsettled')]),
    invalidKey: () => {
      invalidKeys += 1
      const nowMs = clock()
      if (nowMs < quietUntilMs) return
      line('info', 'invalid_keys', {}, [['InvalidKeys', invalidKeys, 'Count']])
      invalidKeys = 0
      quietUntilMs = nowMs + INVALID_KEYS_EVERY_MS
    },
    swept: (count) => line('info', 'swept', {}, [['SweptHolds', count, 'Count']]),
    closed: (days, behind) => line('info', 'closed', { days }, [['DaysBehind', behind, 'Count']]),
  }
}

/** The row, with a word in place of what it has none of, so that every request counts in every breakdown. */
function fieldsOf(row: UsageRow): object {
  return {
    ...row,
    model: row.model ?? 'none',
    provider: row.provider ?? 'none',
    cost: Number(row.cost),
    hold: Number(row.hold),
    upstreamCost: row.upstreamCost === undefined ? undefined : Number(row.upstreamCost),
  }
}

const requests: Metric = ['Requests', 1, 'Count']
const errorsOf = (row: UsageRow): Metric => ['Errors', row.errorCode ? 1 : 0, 'Count']
const creditsIn = (nano: Nano) => Number(nano) / 1e9
const creditsOf = (row: UsageRow): Metric => ['Credits', creditsIn(row.cost), 'None']
const tokensOf = (row: UsageRow): Metric[] => [
  ['PromptTokens', row.promptTokens, 'Count'],
  ['CompletionTokens', row.completionTokens, 'Count'],
]
const firstTokenOf = (row: UsageRow): Metric[] =>
  row.ttftMs === undefined ? [] : [['TimeToFirstToken', row.ttftMs, 'Milliseconds']]

/** A 5xx that the gateway only passes on: no upstream gave an answer. */
const isUpstreams = ({ httpStatus, errorCode }: UsageRow) =>
  httpStatus === 502 || httpStatus === 504 || (httpStatus === 503 && errorCode === 'upstream_rate_limited')

function metricsOf(row: UsageRow): Metric[] {
  return [
    requests,
    errorsOf(row),
    ['ServerErrors', row.httpStatus >= 500 && !isUpstreams(row) ? 1 : 0, 'Count'],
    ['UpstreamErrors', isUpstreams(row) ? 1 : 0, 'Count'],
    ['Duration', row.durationMs, 'Milliseconds'],
    ...firstTokenOf(row),
    ...tokensOf(row),
    creditsOf(row),
    ['CreditsHeld', creditsIn(row.hold), 'None'],
    ...(row.usageSource === 'none' ? [] : usageMetricsOf(row)),
  ]
}

/** Of answers only: how well their charge is founded, and whether it covers what they cost us. */
function usageMetricsOf(row: UsageRow): Metric[] {
  const { upstreamCost } = row
  return [
    ['RoughEstimates', row.estimatedBy === 'characters' ? 1 : 0, 'Count'],
    ['UsageRejected', row.usageRejected ? 1 : 0, 'Count'],
    ['BilledAtBound', row.usageCapped ? 1 : 0, 'Count'],
    ...(upstreamCost === undefined
      ? []
      : ([
          ['UpstreamCost', creditsIn(upstreamCost), 'None'],
          ['NegativeMargins', upstreamCost > row.cost ? 1 : 0, 'Count'],
        ] satisfies Metric[])),
  ]
}

function breakdownsOf(row: UsageRow): Breakdown[] {
  return [
    { by: 'model', metrics: [requests, ...firstTokenOf(row), ...tokensOf(row), creditsOf(row)] },
    { by: 'provider', metrics: [requests, ...firstTokenOf(row)] },
    ...(row.errorCode ? [{ by: 'errorCode', metrics: [errorsOf(row)] }] : []),
  ]
}

/** Which fields of a line are figures, as JSON. There are few kinds of lines, and each is described once. */
function keptDescriptions(): (metrics: readonly Metric[], more: readonly Breakdown[]) => string {
  const kept = new Map<string, string>()
  return (metrics, more) => {
    let kind = namesOf(metrics)
    for (const { by, metrics: these } of more) kind += `${by}:${namesOf(these)}`
    const known = kept.get(kind) ?? JSON.stringify(describeMetrics(metrics, more))
    kept.set(kind, known)
    return known
  }
}

function namesOf(metrics: readonly Metric[]): string {
  let names = ''
  for (const [name] of metrics) names += `${name};`
  return names
}

function describeMetrics(metrics: readonly Metric[], breakdowns: readonly Breakdown[]): object[] {
  const directive = (dimensions: readonly string[], these: readonly Metric[]) => ({
    Namespace: METRICS_NAMESPACE,
    Dimensions: [dimensions],
    Metrics: these.map(([Name, , Unit]) => ({ Name, Unit })),
  })
  return [directive(['stage'], metrics), ...breakdowns.map(({ by, metrics: these }) => directive(['stage', by], these))]
}

const MOST_CAUSES = 4

/** An error and what caused it: a 500's own words say nothing, its cause says all. */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (typeof error !== 'object' || error === null) return { type: typeof error }
  const { name, message, stack, cause } = error as Error
  const hasCause = cause !== undefined && depth < MOST_CAUSES
  return { name, message, stack, ...(hasCause && { cause: describeError(cause, depth + 1) }) }
}
