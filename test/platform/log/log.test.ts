import { expect, test } from '@jest/globals'
import { internalError } from '../../../layers/gateway/domain/basics/gateway-error.ts'
import { UpstreamFailure } from '../../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { METRICS_NAMESPACE } from '../../../layers/gateway/names.ts'
import { jsonLog, type Log } from '../../../layers/gateway/platform/log/log.ts'
import { completedRow } from '../../support/completed-row.ts'

const NOW_MS = 1_760_000_000_123

const COMPLETED: UsageRow = {
  ...completedRow({
    requestId: 'req_1',
    keyId: 'key_1',
    startedAtMs: NOW_MS - 900,
    cost: 20_000n,
    hold: 2_010_000_000n,
  }),
  errorCode: undefined,
  model: 'gpt-4o-mini',
  provider: 'openai',
  price: { input: '0.15', output: '0.6', cachedInput: '0.075' },
  promptTokens: 10,
  attempts: [{ provider: 'openai', model: 'gpt', result: 'ok', ms: 120 }],
  ttftMs: 130,
  durationMs: 900,
}

/** Refused before anything was known of it but its key. */
const REFUSED: UsageRow = {
  ...completedRow({ requestId: 'req_1', keyId: 'key_1', startedAtMs: NOW_MS - 900, cost: 0n, hold: 0n }),
  outcome: 'refused',
  httpStatus: 403,
  errorCode: 'insufficient_scope',
  model: undefined,
  provider: undefined,
  promptTokens: 0,
  completionTokens: 0,
  usageSource: 'none',
  durationMs: 900,
}

const FAILED: UsageRow = { ...COMPLETED, outcome: 'upstream_error', httpStatus: 502, errorCode: 'upstream_error' }
const RICH: UsageRow = { ...COMPLETED, cost: 9_007_199_254_740_993n, hold: 123_456_789_012_345_678n }

const MULTILINE = new Error('first\nsecond\r\n\u2028third "quoted"')

const { name, message, stack } = MULTILINE
const FULL_ERROR = { level: 'error', requestId: 'req_1', error: { name, message, stack } }
const ANSWERED_500 = new UpstreamFailure('status', 'It answered 500.', { status: 500 })
const FAILURE = { level: 'warn', provider: 'openai', reason: 'status', status: 500, UpstreamFailures: 1 }
const UNPAID = { level: 'warn', provider: 'openai', UnpaidAnswers: 1, UnpaidCostAtMost: 0.0015 }

/** The last column has fields that the line must have. */
const LINES: [what: string, event: string, write: (log: Log) => void, told?: object][] = [
  ['a request that was answered', 'request', (log) => log.request(COMPLETED)],
  ['a request that was refused', 'request', (log) => log.request(REFUSED), { model: 'none', provider: 'none' }],
  ['a request whose upstream failed', 'request', (log) => log.request(FAILED)],
  ['a request that cost more than 2^53 nanocredits', 'request', (log) => log.request(RICH)],
  ['an upstream’s failure', 'upstream_failed', (log) => log.upstreamFailed('openai', ANSWERED_500), FAILURE],
  ['no upstream', 'upstream_failed', (log) => log.upstreamFailed('up', new UpstreamFailure('reset', 'x'))],
  ['a problem', 'problem', (log) => log.problem('what', MULTILINE, 'req_1'), { ...FULL_ERROR, Problems: 1 }],
  ['a problem whose error is a text', 'problem', (log) => log.problem('a request failed', 'text', 'req_1')],
  ['a problem without an error', 'problem', (log) => log.problem('a request failed', undefined, 'req_1')],
  ['an unsettled request', 'unsettled', (log) => log.unsettled(MULTILINE, 'req_1'), { ...FULL_ERROR, Unsettled: 1 }],
  [
    'a 5xx of ours',
    'request',
    (log) => log.request({ ...FAILED, httpStatus: 500, errorCode: 'internal_error' }),
    { ServerErrors: 1, version: 'f:7' },
  ],
  [
    'a 5xx of ours without a row',
    'unsettled',
    (log) => log.unsettled(MULTILINE, 'req_1', { errorCode: 'service_unavailable' }),
    { Unsettled: 1, Unrecorded: 1, ServerErrors: 1, Requests: 1, version: 'f:7' },
  ],
  ['an answer beyond its cap', 'beyond_cap', (log) => log.beyondCap('openai', 'gpt')],
  ['an answer that nobody got', 'unpaid', (log) => log.unpaid('openai', 1_500_000n), UNPAID],
  ['an answer of unknown cost that nobody got', 'unpaid', (log) => log.unpaid('openai', undefined)],
  ['a request without a valid key', 'invalid_keys', (log) => log.invalidKey()],
  ['a sweep that found nothing', 'swept', (log) => log.swept(0), { SweptHolds: 0 }],
  ['a sweep that found something', 'swept', (log) => log.swept(3), { level: 'info', SweptHolds: 3 }],
  ['days that were closed', 'closed', (log) => log.closed(1, 0)],
]

type Directive = { Namespace: string; Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] }
type Line = Record<string, unknown> & { _aws: { Timestamp: number; CloudWatchMetrics: Directive[] } }

function written(write: (log: Log) => void): { text: string; line: Line } {
  const lines: string[] = []
  write(
    jsonLog(
      (text) => lines.push(text),
      'prod',
      () => NOW_MS,
      'f:7',
    ),
  )
  if (lines.length !== 1 || lines[0] === undefined) throw new Error(`${lines.length} lines were written.`)
  return { text: lines[0], line: JSON.parse(lines[0]) }
}

// docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
test.each(LINES)(
  'the log line of %s is one line of JSON in CloudWatch’s embedded metric format: %s',
  (_, event, write, told = {}) => {
    const { text, line } = written(write)
    expect(line).toMatchObject(told)
    expect(text).not.toMatch(/[\n\r]/)
    expect(line).toMatchObject({ event, stage: 'prod', level: expect.stringMatching(/^(info|warn|error)$/) })
    expect(text).not.toMatch(/:(null|"NaN"|"\[object)/)
    expect(Buffer.byteLength(text)).toBeLessThan(256 * 1024)
    const { Timestamp, CloudWatchMetrics, ...rest } = line._aws
    expect([Timestamp, rest, CloudWatchMetrics.length > 0]).toEqual([NOW_MS, {}, true])
    const counted: string[] = []
    for (const { Namespace, Dimensions, Metrics, ...others } of CloudWatchMetrics) {
      expect([Namespace, others]).toEqual([METRICS_NAMESPACE, {}])
      expect([Metrics.length, Dimensions.length].every((count) => count > 0 && count <= 100)).toBe(true)
      for (const { Name, Unit = 'None', ...more } of Metrics) {
        expect(more).toEqual({})
        expect(['Count', 'Milliseconds', 'None']).toContain(Unit)
        expect([Name, typeof line[Name]]).toEqual([Name, 'number'])
      }
      for (const set of Dimensions) {
        expect([set.length <= 30, new Set(set).size]).toEqual([true, set.length])
        for (const name of set)
          expect([name, line[name]]).toEqual([name, expect.stringMatching(/^[\x20-\x7e]{1,1024}$/)])
        counted.push(...Metrics.map(({ Name }) => `${Name} by ${set.join()}`))
      }
    }
    // No metric counts twice in the same dimensions.
    expect(new Set(counted).size).toBe(counted.length)
    expect(counted).toContainEqual(expect.stringMatching(/ by stage$/))
  },
)

test('the log line of a request is its usage row and its metrics, and nothing else', () => {
  const { line } = written((log) => log.request(COMPLETED))
  const figures = line._aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name))
  const known = new Set(['timestamp', 'level', 'event', 'stage', '_aws', ...Object.keys(COMPLETED), ...figures])
  expect(Object.keys(line).filter((name) => !known.has(name))).toEqual([])
  const { cost, hold, errorCode, ...same } = COMPLETED
  expect(line).toMatchObject(same)
  expect(line).not.toHaveProperty('errorCode')
})

test('the log line of a request has money as numbers: nanocredits in the row, credits in the metrics', () => {
  const { line } = written((log) => log.request(COMPLETED))
  expect(line).toMatchObject({ cost: 20_000, hold: 2_010_000_000, Credits: 0.00002, CreditsHeld: 2.01 })
})

/** A count of nothing is left out, which CloudWatch takes for 0. */
function figuresIn(row: UsageRow, wanted: object) {
  const { line } = written((log) => log.request(row))
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, line[name] ?? 0]))
}

test('the log line of a request that was answered has no count of nothing, and is short', () => {
  const { text, line } = written((log) => log.request(COMPLETED))
  for (const name of ['Errors', 'ServerErrors', 'UpstreamErrors', 'UsageRejected'])
    expect(line).not.toHaveProperty(name)
  const { _aws, ...rest } = line
  expect(JSON.stringify(_aws).length).toBeLessThan(JSON.stringify(rest).length)
  expect(text.length).toBeLessThan(1_800)
})

const OF_ANSWER = { Requests: 1, Errors: 0, ServerErrors: 0, UpstreamErrors: 0, Duration: 900, TimeToFirstToken: 130 }
const OF_REFUSAL = { Requests: 1, Errors: 1, ServerErrors: 0, Duration: 900, PromptTokens: 0, Credits: 0 }
const GAINS = { UpstreamCost: 0.000015, NegativeMargins: 0, BilledAtBound: 0 }
const LOSES = { NegativeMargins: 1, UsageRejected: 0, RoughEstimates: 0 }

test.each<[string, UsageRow, object]>([
  ['was answered', COMPLETED, OF_ANSWER],
  ['was refused', REFUSED, OF_REFUSAL],
  ['failed upstream', FAILED, { Requests: 1, Errors: 1, ServerErrors: 0, UpstreamErrors: 1, PromptTokens: 10 }],
  ['timed out upstream', { ...FAILED, httpStatus: 504 }, { Errors: 1, ServerErrors: 0, UpstreamErrors: 1 }],
  ['broke off upstream in its stream', { ...FAILED, httpStatus: 200 }, { ServerErrors: 0, UpstreamErrors: 1 }],
  [
    'failed in the gateway',
    { ...FAILED, httpStatus: 500, errorCode: 'internal_error' },
    { Errors: 1, ServerErrors: 1, UpstreamErrors: 0, Refusals: 0 },
  ],
  [
    'met no database',
    { ...FAILED, httpStatus: 503, errorCode: 'service_unavailable' },
    { Errors: 1, ServerErrors: 1, UpstreamErrors: 0 },
  ],
  [
    'was refused by its provider, in its own words',
    { ...REFUSED, httpStatus: 400, errorCode: 'image_too_small' },
    { Errors: 1, ServerErrors: 0, UpstreamErrors: 0, Refusals: 1 },
  ],
  [
    'asked no model',
    { ...COMPLETED, endpoint: 'credits' },
    { Calls: 1, Requests: 0, Errors: 0, Duration: 0, PromptTokens: 0, Credits: 0 },
  ],
  ['has a charge that covers the provider’s bill', { ...COMPLETED, upstreamCost: 15_000n }, GAINS],
  ['has one that does not cover it', { ...COMPLETED, upstreamCost: 20_001n }, LOSES],
  ['has one that was capped at its hold', { ...COMPLETED, usageCapped: true }, { BilledAtBound: 1 }],
  ['was estimated by its characters', { ...COMPLETED, estimatedBy: 'characters' }, { RoughEstimates: 1 }],
  ['was estimated because counts were wrong', { ...COMPLETED, usageRejected: true }, { UsageRejected: 1 }],
])('the log line of a request that %s has its metrics', (_, row, figures) => {
  expect(figuresIn(row, figures)).toEqual(figures)
})

test('the log line of a request without a first token has no time to first token, not even 0', () => {
  const { text, line } = written((log) => log.request(REFUSED))
  expect(line).not.toHaveProperty('TimeToFirstToken')
  expect(text).not.toContain('"Name":"TimeToFirstToken"')
})

test('the log line of a 500 has the cause of the error and the cause of that', () => {
  const cause = new TypeError('x is not a function', { cause: new Error('the first') })
  const { line } = written((log) => log.problem('a request failed', internalError(cause), 'req_1'))
  expect(line.error).toMatchObject({
    name: 'GatewayError',
    cause: { name: 'TypeError', message: 'x is not a function', cause: { message: 'the first' } },
  })
})

test('the log line of an error that is its own cause stays short', () => {
  const loop = new Error('loop')
  loop.cause = loop
  expect(written((log) => log.problem('what', loop, 'req_1')).text.length).toBeLessThan(20_000)
})

test('a flood of requests without a valid key makes a line every ten seconds, and each is counted once', () => {
  const counts: number[] = []
  let nowMs = NOW_MS
  const log = jsonLog(
    (text) => counts.push(JSON.parse(text).InvalidKeys),
    'prod',
    () => nowMs,
  )
  for (let i = 0; i < 3_001; i += 1) {
    log.invalidKey()
    nowMs += 10
  }
  expect(counts).toEqual([1, 1_000, 1_000, 1_000])
})

test('the log line of requests without a valid key tells nothing of them but their number', () => {
  const { _aws, timestamp, ...line } = written((log) => log.invalidKey()).line
  expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
  expect(line).toEqual({ level: 'info', event: 'invalid_keys', stage: 'prod', InvalidKeys: 1 })
})

test('a log line has the stage local if no other is configured', () => {
  const lines: string[] = []
  jsonLog((line) => lines.push(line)).swept(0)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ stage: 'local', _aws: { Timestamp: expect.any(Number) } })
})
