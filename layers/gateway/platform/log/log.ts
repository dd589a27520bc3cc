import { plainJson } from '../../domain/basics/plain-text.ts'
import { isoTime } from '../../domain/basics/time.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { CREDIT_FIELDS, type UsageRow } from '../../domain/rows/usage-row.ts'
import { type Answer, creditsIn, describeMetrics, isServers, metricsOf, type Unit } from './row-metrics.ts'

/** Tells the operator about events. No prompt, answer or secret is passed to it. */
export type Log = {
  request(row: UsageRow): void
  upstreamFailed(provider: string, failure: UpstreamFailure): void
  /** A route answered beyond the output cap that it was given. */
  beyondCap(provider: string, upstreamModel: string): void
  /** An answer that was given up and reached no caller. The provider may bill it, at most for this much. */
  unpaid(provider: string, costAtMost: Nano | undefined): void
  /** A key has reached the bound on what it may cost beyond its charges on this day. */
  lossReached(keyId: string, requestId: string): void
  /** An upstream counted a prompt of more tokens than the `contextLength` by which its hold was bounded. */
  contextExceeded(route: string, promptTokens: number, contextLength: number, requestId: string): void
  /** `answer` is that of a request which leaves no row, because its key is not known. */
  problem(what: string, error: unknown, requestId: string, answer?: Answer): void
  /** A request that could not be settled, with its answer: the sweep will finish it, if it holds anything. */
  unsettled(error: unknown, requestId: string, answer?: Answer): void
  invalidKey(): void
  swept(count: number): void
  /** The days that a run has closed, the number of ended days that are still open, and why the trail does not record. */
  closed(days: number, behind: number, trailFault?: string): void
}

type Metric = { readonly name: string; readonly value: number; readonly unit: Unit }

/** A stranger without a key must not be able to make a line with each request: the next line counts those since the last. */
const INVALID_KEYS_EVERY_MS = 10_000

/**
 * Lambda takes a line as it is if it is JSON with a level and a timestamp: Lambda Developer Guide, "Log-level filtering".
 * One JSON line each, in which foreign texts are data only. Figures are CloudWatch metrics (embedded metric format).
 */
export function jsonLog(
  printLine: (line: string) => void,
  stage = 'local',
  clock: () => number = Date.now,
  version = 'local',
): Log {
  const requestStart = `"level":"info","event":"request","stage":${JSON.stringify(stage)},`
  const print = (line: string) => printLine(plainJson(line))
  let invalidKeys = 0
  let quietUntilMs = 0
  /** `by` are the dimensions of the first metric. */
  function line(level: string, event: string, fields: object, metrics: readonly Metric[], ...by: readonly string[]) {
    const figures = Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
    const more = by.length === 0 ? [] : [describeMetrics(metrics.slice(0, 1), by)]
    const nowMs = clock()
    const _aws = { Timestamp: nowMs, CloudWatchMetrics: [describeMetrics(metrics, []), ...more] }
    print(JSON.stringify({ timestamp: isoTime(nowMs), level, event, stage, ...fields, ...figures, _aws }))
  }
  const count = (name: string, value = 1): Metric => ({ name, value, unit: 'Count' })
  /** A 5xx without a row has the figures of one here: no other metric would tell of a database outage. */
  function fault(event: string, fields: object, metric: string, answer?: Answer): void {
    const ofRow = answer && isServers(answer) ? ['ServerErrors', 'Requests', 'Unrecorded'] : []
    const figures = [...ofRow, metric].map((name) => count(name))
    line('error', event, { ...fields, version }, figures, ...ofRow.slice(0, 1).map(() => 'version'))
  }
  return {
    // Each request has this line, so it is joined from parts that are JSON already.
    request: (row) => {
      const { fields, description } = metricsOf(row)
      const nowMs = clock()
      // CloudWatch charges for each version, so only a failure names its own.
      const failed = isServers(row) ? `"version":${JSON.stringify(version)},` : ''
      const rest = `${failed}${fields},"_aws":{"Timestamp":${nowMs},"CloudWatchMetrics":${description}}}`
      print(`{"timestamp":"${isoTime(nowMs)}",${requestStart}${JSON.stringify(fieldsOf(row)).slice(1, -1)},${rest}`)
    },
    upstreamFailed: (provider, { reason, detail, message }) => {
      const ours = reason === 'credential' || reason === 'forbidden' ? [count('CredentialFailures')] : []
      const fields = { provider, reason, status: detail.status, message }
      line('warn', 'upstream_failed', fields, [count('UpstreamFailures'), ...ours], 'provider')
    },
    beyondCap: (provider, upstreamModel) =>
      line('warn', 'beyond_cap', { provider, upstreamModel }, [count('BeyondCap')], 'provider', 'upstreamModel'),
    unpaid: (provider, costAtMost) => {
      const cost: Metric[] =
        costAtMost === undefined ? [] : [{ name: 'UnpaidCostAtMost', value: creditsIn(costAtMost), unit: 'None' }]
      line('warn', 'unpaid', { provider }, [count('UnpaidAnswers'), ...cost], 'provider')
    },
    lossReached: (keyId, requestId) => line('warn', 'loss_reached', { keyId, requestId }, [count('LossReached')]),
    contextExceeded: (route, promptTokens, contextLength, requestId) => {
      const fields = { requestId, route, promptTokens, contextLength }
      line('warn', 'context_exceeded', fields, [count('ContextExceeded')], 'route')
    },
    problem: (what, error, requestId, answer) =>
      fault('problem', { requestId, what, error: describeError(error) }, 'Problems', answer),
    unsettled: (error, requestId, answer) =>
      fault('unsettled', { requestId, error: describeError(error) }, 'Unsettled', answer),
    invalidKey: () => {
      invalidKeys += 1
      const nowMs = clock()
      if (nowMs < quietUntilMs) return
      line('info', 'invalid_keys', {}, [count('InvalidKeys', invalidKeys)])
      invalidKeys = 0
      quietUntilMs = nowMs + INVALID_KEYS_EVERY_MS
    },
    swept: (holds) => line('info', 'swept', {}, [count('SweptHolds', holds)]),
    closed: (days, behind, trailFault) => {
      const stopped = trailFault === undefined ? [] : [count('TrailStopped')]
      line('info', 'closed', { days, trailFault }, [count('DaysBehind', behind), ...stopped])
    },
  }
}

/** The callers' own words about people are kept where they expire and can be left out: on the row. */
const UNTOLD = { user: undefined, tags: undefined } satisfies Partial<UsageRow>

/** The row, with a word for each missing dimension, so that every request counts in every breakdown. */
function fieldsOf(row: UsageRow): object {
  const fields: Record<string, unknown> = {
    ...row,
    ...UNTOLD,
    model: row.model ?? 'none',
    provider: row.provider ?? 'none',
  }
  for (const name of CREDIT_FIELDS) if (fields[name] !== undefined) fields[name] = Number(fields[name])
  return fields
}

const MOST_CAUSES = 4

/** An error and its causes: the message of a 500 says nothing, its cause says all. */
function describeError(error: unknown, depth = 0): Record<string, unknown> {
  if (typeof error !== 'object' || error === null) return { type: typeof error }
  const { name, message, stack, cause } = error as Error
  const hasCause = cause !== undefined && depth < MOST_CAUSES
  return { name, message, stack, ...(hasCause && { cause: describeError(cause, depth + 1) }) }
}

/** Straight to the log: Lambda's own console adds a prefix that is not JSON. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
