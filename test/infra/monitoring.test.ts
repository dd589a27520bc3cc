import { beforeAll, expect, test } from '@jest/globals'
import { METRICS_NAMESPACE } from '../../layers/gateway/contract.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/usage-row.ts'
import { jsonLog } from '../../layers/gateway/log.ts'
import { FUNCTIONS } from '../support/functions.ts'
import { only, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

type Dimension = { readonly Name: string; readonly Value: unknown }
type MetricName = { readonly Namespace: string; readonly MetricName: string; readonly Dimensions?: Dimension[] }
type Query = {
  readonly Id: string
  readonly Expression?: string
  readonly MetricStat?: { readonly Metric: MetricName }
}

let dev: Synthesized
let mailed: Synthesized
beforeAll(async () => {
  dev = await synthesized('dev')
  mailed = await synthesized('mailed')
}, 180_000)

const alarms = () =>
  Object.values(dev.template.findResources('AWS::CloudWatch::Alarm')).map((alarm) => alarm.Properties)

/** The metrics that an alarm looks at, in itself or through an expression. */
function metricsOf(alarm: MetricName & { Metrics?: Query[] }): MetricName[] {
  return alarm.Metrics ? alarm.Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) : [alarm]
}

function watched(namespace: string, name: RegExp): unknown[] {
  return alarms()
    .flatMap(metricsOf)
    .filter(({ Namespace, MetricName }) => Namespace === namespace && name.test(MetricName))
    .flatMap(({ Dimensions }) => Dimensions?.map(({ Value }) => Value) ?? [])
}

const refs = (ids: readonly string[]) => ids.map((Ref) => ({ Ref }))

test.each([
  'ServerErrors',
  'Problems',
  'Unsettled',
  'SweptHolds',
  'RoughEstimates',
  'UsageRejected',
  'BilledAtBound',
  'NegativeMargins',
  'UnpaidAnswers',
])('an alarm watches the gateway’s metric %s', (name) => {
  expect(watched(METRICS_NAMESPACE, new RegExp(`^${name}$`))).toEqual(['dev'])
})

test.each(['Errors', 'Throttles'])('an alarm watches the metric %s of every function', (name) => {
  const functions = FUNCTIONS.map((fn) => dev.functions[fn])
  expect(watched('AWS/Lambda', new RegExp(`^${name}$`))).toEqual(expect.arrayContaining(refs(functions)))
})

test('an alarm goes off before the chat function reaches its time limit', () => {
  const alarm = alarms().find(({ MetricName }) => MetricName === 'Duration')
  expect(alarm).toMatchObject({
    Namespace: 'AWS/Lambda',
    Statistic: 'Maximum',
    Dimensions: [{ Name: 'FunctionName', Value: { Ref: dev.functions.chat } }],
  })
  expect(alarm.Threshold).toBeLessThan(900_000)
})

test('an alarm watches the throttling of each table', () => {
  expect(watched('AWS/DynamoDB', /Throttle/)).toEqual(
    expect.arrayContaining(refs([dev.tables.keys, dev.tables.usage, dev.tables.answers])),
  )
})

test('every alarm notifies the topic, says in words what is wrong, and is quiet while nothing happens', () => {
  const topic = only(dev.template, 'AWS::SNS::Topic').id
  expect(alarms().length).toBeGreaterThanOrEqual(8)
  for (const alarm of alarms()) {
    expect(alarm).toMatchObject({ AlarmActions: [{ Ref: topic }], TreatMissingData: 'notBreaching' })
    expect(alarm.AlarmDescription).toMatch(/^Waybill dev: .+\.$/)
  }
})

// A metric has no data for a time in which nothing happened, and a sum with a part missing is missing itself.
test('an alarm that adds metrics up also goes off when only one of them has data', () => {
  const sums = alarms().filter((alarm) => metricsOf(alarm).length > 1)
  expect(sums.length).toBeGreaterThan(0)
  for (const { AlarmDescription, Metrics } of sums) {
    const queries = Metrics as Query[]
    const expression = queries.find(({ Expression }) => Expression)?.Expression ?? ''
    const filled = queries.filter(({ Id, MetricStat }) => MetricStat && expression.includes(`FILL(${Id}, 0)`))
    expect([AlarmDescription, expression, filled.length]).toEqual([
      AlarmDescription,
      expression,
      metricsOf({ Metrics } as never).length,
    ])
  }
})

// A topic's own policy takes the place of the one by which its account may publish.
test('CloudWatch may publish to the alarm topic, and nobody may without encryption', () => {
  const topic = only(dev.template, 'AWS::SNS::Topic').id
  const { PolicyDocument, Topics } = only(dev.template, 'AWS::SNS::TopicPolicy').properties
  expect(Topics).toEqual([{ Ref: topic }])
  expect(PolicyDocument.Statement).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        Effect: 'Deny',
        Action: 'sns:Publish',
        Principal: '*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Resource: { Ref: topic },
      }),
    ]),
  )
})

test('alarms are mailed to the operator who gave an address, and to nobody else', () => {
  expect(dev.template.findResources('AWS::SNS::Subscription')).toEqual({})
  expect(only(mailed.template, 'AWS::SNS::Subscription').properties).toEqual({
    Protocol: 'email',
    Endpoint: 'operator@example.com',
    TopicArn: { Ref: only(mailed.template, 'AWS::SNS::Topic').id },
  })
})

type Widget = { readonly properties: { readonly title: string; readonly metrics: unknown[][] } }

const widgets = (): Widget[] =>
  JSON.parse(textOf(only(dev.template, 'AWS::CloudWatch::Dashboard').properties.DashboardBody)).widgets

test.each([
  ['requests', 'Requests', ['', 'model', 'provider']],
  ['errors', 'Errors', ['', 'errorCode']],
  ['server errors', 'ServerErrors', ['']],
  ['upstream failures', 'UpstreamFailures', ['']],
  ['time to first token', 'TimeToFirstToken', ['', 'provider']],
  ['duration', 'Duration', ['']],
  ['prompt tokens', 'PromptTokens', ['', 'model']],
  ['completion tokens', 'CompletionTokens', ['', 'model']],
  ['credits', 'Credits', ['', 'model']],
  ['credits held', 'CreditsHeld', ['']],
  ['the provider cost of answers', 'UpstreamCost', ['']],
  ['estimates by characters', 'RoughEstimates', ['']],
  ['usage counts that were rejected', 'UsageRejected', ['']],
  ['usage beyond the hold', 'BilledAtBound', ['']],
  ['answers that nobody paid for', 'UnpaidAnswers', ['', 'provider']],
  ['unsettled requests', 'Unsettled', ['']],
  ['swept holds', 'SweptHolds', ['']],
])('the dashboard shows %s', (_, name, breakdowns) => {
  const shown = widgets().flatMap(read)
  for (const breakdown of breakdowns) {
    expect(shown).toContain(`${name} by ${['stage', breakdown].filter(Boolean).join()}`)
  }
})

test('every widget of the dashboard has a title of its own', () => {
  const titles = widgets().map(({ properties }) => properties.title)
  expect(new Set(titles).size).toBe(titles.length)
  expect(titles.length).toBeGreaterThanOrEqual(12)
})

test('every metric of an alarm or the dashboard is one that the log writes, with the same dimensions', () => {
  const written = writtenMetrics()
  const ours = alarms()
    .flatMap(metricsOf)
    .filter(({ Namespace }) => Namespace === METRICS_NAMESPACE)
    .map(({ MetricName, Dimensions }) => `${MetricName} by ${Dimensions?.map(({ Name }) => Name).join()}`)
  const shown = widgets().flatMap(read)
  expect(shown.length).toBeGreaterThan(20)
  for (const metric of [...ours, ...shown]) expect(written).toContain(metric)
})

/** The gateway's metrics that a widget shows: `Name by dimension,dimension`. */
function read({ properties }: Widget): string[] {
  return properties.metrics.flatMap((metric) => {
    const [first, name, ...rest] = metric
    if (first === METRICS_NAMESPACE)
      return `${name} by ${rest.filter((_, i) => i % 2 === 0 && i < rest.length - 1).join()}`
    const { expression = '' } = first as { expression?: string }
    const [, dimensions, searched] = /^SEARCH\('\{Waybill,([\w,]+)\} MetricName="(\w+)"/.exec(expression) ?? []
    return searched ? `${searched} by ${dimensions}` : []
  })
}

function writtenMetrics(): Set<string> {
  const lines: string[] = []
  const log = jsonLog((line) => lines.push(line), 'dev')
  const figures = { ttftMs: 1, durationMs: 1, httpStatus: 500, cost: 1n, hold: 1n, upstreamCost: 2n }
  log.request({ errorCode: 'x', ...figures } as UsageRow)
  log.unpaid('up', 1n)
  log.upstreamFailed('up', new UpstreamFailure('credential', 'gone'))
  log.problem('what', new Error('x'), 'req_1')
  log.unsettled(new Error('x'), 'req_1')
  log.swept(1)
  type Directive = { Dimensions: string[][]; Metrics: { Name: string }[] }
  const directives = lines.flatMap((line): Directive[] => JSON.parse(line)._aws.CloudWatchMetrics)
  return new Set(
    directives.flatMap(({ Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name }) => Dimensions.map((set) => `${Name} by ${set.join()}`)),
    ),
  )
}
