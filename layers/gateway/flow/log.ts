import { METRICS_NAMESPACE } from '../contract.ts'
import type { UpstreamFailure } from '../domain/upstream-failure.ts'
import type { UsageRow } from '../domain/usage-row.ts'

/** What an operator is told. Nothing here takes a prompt, an answer or a secret. */
export type Log = {
  /** One line for every request that has a row. */
  request(row: UsageRow): void
  upstreamFailed(provider: string, failure: UpstreamFailure): void
  /** Something that should not happen. */
  problem(what: string, error: unknown, requestId: string): void
  /** A request that could not be settled: the sweep will finish it. */
  unsettled(error: unknown, requestId: string): void
  /** Dead requests that a sweep found and finished. */
  swept(count: number): void
}

type Unit = 'Count' | 'Milliseconds' | 'None'
type Metric = readonly [name: string, value: number, unit: Unit]

/** One JSON line each. Those with figures carry them as CloudWatch metrics (embedded metric format). */
export function jsonLog(print: (line: string) => void, stage = 'local', clock: () => number = Date.now): Log {
  const line = (level: string, event: string, fields: object, metrics: object = {}) =>
    print(
      JSON.stringify({ level, event, stage, ...fields, ...metrics }, (_, value) =>
        typeof value === 'bigint' ? Number(value) : value,
      ),
    )
  return {
    request: (row) =>
      line('info', 'request', dimensionsOf(row), embed(clock(), requestDimensions(row), requestMetrics(row))),
    upstreamFailed: (provider, failure) =>
      line(
        'warn',
        'upstream_failed',
        { provider, reason: failure.reason, status: failure.detail.status, message: failure.message },
        embed(clock(), [['provider', 'reason']], [['UpstreamFailures', 1, 'Count']]),
      ),
    problem: (what, error, requestId) =>
      line(
        'error',
        'problem',
        { requestId, what, error: describeError(error) },
        embed(clock(), [], [['Problems', 1, 'Count']]),
      ),
    unsettled: (error, requestId) =>
      line(
        'error',
        'unsettled',
        { requestId, error: describeError(error) },
        embed(clock(), [], [['Unsettled', 1, 'Count']]),
      ),
    swept: (count) => line('info', 'swept', {}, embed(clock(), [], [['SweptHolds', count, 'Count']])),
  }
}

/** The row, with a word in place of what it has none of, so that every request counts in every breakdown. */
function dimensionsOf(row: UsageRow): object {
  return { ...row, model: row.model ?? 'none', provider: row.provider ?? 'none' }
}

function requestDimensions(row: UsageRow): string[][] {
  return [['model'], ['provider'], ['endpoint'], ...(row.errorCode ? [['errorCode']] : [])]
}

function requestMetrics(row: UsageRow): Metric[] {
  return [
    ['Requests', 1, 'Count'],
    ['Errors', row.errorCode ? 1 : 0, 'Count'],
    ['ServerErrors', row.httpStatus >= 500 ? 1 : 0, 'Count'],
    ['Duration', row.durationMs, 'Milliseconds'],
    ...(row.ttftMs === undefined ? [] : ([['TimeToFirstToken', row.ttftMs, 'Milliseconds']] as const)),
    ['PromptTokens', row.promptTokens, 'Count'],
    ['CompletionTokens', row.completionTokens, 'Count'],
    ['Credits', Number(row.cost) / 1e9, 'None'],
    ['CreditsHeld', Number(row.hold) / 1e9, 'None'],
  ]
}

/** Every metric for the stage as a whole, and once more for each set of dimensions. */
function embed(nowMs: number, sets: readonly (readonly string[])[], metrics: readonly Metric[]): object {
  return {
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: [
        {
          Namespace: METRICS_NAMESPACE,
          Dimensions: [['stage'], ...sets.map((set) => ['stage', ...set])],
          Metrics: metrics.map(([Name, , Unit]) => ({ Name, Unit })),
        },
      ],
    },
    ...Object.fromEntries(metrics.map(([name, value]) => [name, value])),
  }
}

export function describeError(error: unknown): Record<string, unknown> {
  if (typeof error !== 'object' || error === null) return { type: typeof error }
  const { name, message, stack } = error as Error
  return { name, message, stack }
}
