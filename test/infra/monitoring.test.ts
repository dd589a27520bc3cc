import { beforeAll, expect, test } from '@jest/globals'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { METRICS_NAMESPACE, TABLES } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { pathOf, type Resource } from '../deployed/support/template.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { FUNCTIONS } from '../support/functions.ts'
import { only, readBeside, type Synthesized, synthesized, textOf } from './support/synthesized.ts'
import type { Template } from './support/template.ts'

type Dimension = { readonly Name: string; readonly Value: unknown }
type MetricName = { readonly Namespace: string; readonly MetricName: string; readonly Dimensions?: Dimension[] }
type Query = {
  readonly Id: string
  readonly Expression?: string
  readonly MetricStat?: { readonly Metric: MetricName }
}

let dev: Synthesized
let prod: Synthesized
let mailed: Synthesized
/** The alarms in us-east-1 of a stage in another region. */
let edgeAlarms: Template
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  mailed = await synthesized('mailed')
  edgeAlarms = (await readBeside('mailed', 'edge-alarms-eu-west-1')).template
}, 480_000)

const alarmsIn = (template: Template) =>
  Object.values(template.findResources('AWS::CloudWatch::Alarm')).map((alarm) => alarm.Properties)
const alarms = () => alarmsIn(dev.template)

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

/** The topic that pages, and that for tickets. */
const topicsIn = (template: Template) => Object.keys(template.findResources('AWS::SNS::Topic'))
const topics = ({ template }: Synthesized) => topicsIn(template)

const refs = (ids: readonly string[]) => ids.map((Ref) => ({ Ref }))

test.each([
  'ServerErrors',
  'UpstreamErrors',
  'Problems',
  'InvalidKeys',
  'Unsettled',
  'SweptHolds',
  'CredentialFailures',
  'RoughEstimates',
  'UsageRejected',
  'BilledAtBound',
  'ContextExceeded',
  'BeyondCap',
  'NegativeMargins',
  'LossReached',
  'UnpaidAnswers',
])('an alarm watches the gateway’s metric %s', (name) => {
  expect(watched(METRICS_NAMESPACE, new RegExp(`^${name}$`))).toEqual(['dev'])
})

test.each(['Errors', 'Throttles'])('an alarm watches the metric %s of every function', (name) => {
  const functions = FUNCTIONS.map((fn) => dev.functions[fn])
  expect(watched('AWS/Lambda', new RegExp(`^${name}$`))).toEqual(expect.arrayContaining(refs(functions)))
})

test('an alarm watches the 5xx of the HTTP API', () => {
  expect(watched('AWS/ApiGateway', /^5xx$/)).toContainEqual({ Ref: only(dev.template, 'AWS::ApiGatewayV2::Api').id })
})

// CloudFront's metrics are in us-east-1 only, and so is an alarm that can see them.
test('an alarm watches the 5xx of CloudFront, in us-east-1, for a stage of any region', () => {
  const distribution = only(dev.template, 'AWS::CloudFront::Distribution').id
  expect(watched('AWS/CloudFront', /^(5xxErrorRate|Requests)$/)).toEqual([
    ...[{ Ref: distribution }, 'Global'],
    ...[{ Ref: distribution }, 'Global'],
  ])
  const ofCloudFront = (template: Template) =>
    alarmsIn(template)
      .flatMap(metricsOf)
      .filter(({ Namespace }) => Namespace === 'AWS/CloudFront')
  expect(ofCloudFront(mailed.template)).toEqual([])
  const beside = {
    'Fn::GetStackOutput': expect.objectContaining({ OutputName: 'DistributionId', Region: 'eu-west-1' }),
  }
  expect(ofCloudFront(edgeAlarms).map(({ Dimensions }) => Dimensions?.[0]?.Value)).toEqual([beside, beside])
  expect(mailed.template.json.Outputs.DistributionId).toBeDefined()
})

test('the alarms in us-east-1 have topics there, with the same addresses', () => {
  const addressesIn = (template: Template) =>
    Object.values(template.findResources('AWS::SNS::Subscription')).map(({ Properties }) => Properties.Endpoint)
  expect(new Set(addressesIn(edgeAlarms))).toEqual(new Set(addressesIn(mailed.template)))
  for (const { AlarmActions } of alarmsIn(edgeAlarms)) expect(topicsIn(edgeAlarms)).toContain(AlarmActions[0].Ref)
})

test('a sweep that fails, or is not started at all, is an alarm within a quarter of an hour', () => {
  const alarm = alarms().find(({ AlarmDescription }) => /No sweep/.test(AlarmDescription))
  expect(alarm).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 3, TreatMissingData: 'breaching' })
  const watchedNames = metricsOf(alarm).map(({ MetricName, Dimensions }) => [MetricName, Dimensions?.[0]?.Value])
  expect(watchedNames.toSorted()).toEqual([
    ['Errors', { Ref: dev.functions.sweep }],
    ['Invocations', { Ref: dev.functions.sweep }],
  ])
})

test('days that are not closed or exported, for whatever reason, are an alarm within three hours', () => {
  const stopped = alarms().find(({ AlarmDescription }) => /No run that closes days/.test(AlarmDescription))
  expect(stopped).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 3, TreatMissingData: 'breaching' })
  expect(
    metricsOf(stopped)
      .map(({ MetricName, Dimensions }) => [MetricName, Dimensions?.[0]?.Value])
      .toSorted(),
  ).toEqual([
    ['Errors', { Ref: dev.functions.close }],
    ['Invocations', { Ref: dev.functions.close }],
  ])
  const behind = alarms().find(({ AlarmDescription }) => /not closed, or not exported/.test(AlarmDescription))
  expect(behind).toMatchObject({ Threshold: 2, EvaluationPeriods: 3, DatapointsToAlarm: 3 })
  expect(JSON.stringify(behind)).toMatch(/"MetricName":"DaysBehind".*"Period":3600|"Period":3600.*"DaysBehind"/)
})

test('an alarm goes off before the chat function reaches its time limit', () => {
  const alarm = alarms().find(({ Namespace, MetricName }) => Namespace === 'AWS/Lambda' && MetricName === 'Duration')
  expect(alarm).toMatchObject({
    Namespace: 'AWS/Lambda',
    Statistic: 'Maximum',
    Dimensions: [{ Name: 'FunctionName', Value: { Ref: dev.functions.chat } }],
  })
  expect(alarm.Threshold).toBeLessThan(900_000)
})

test.each(['keys', 'usage', 'answers'] as const)(
  'an alarm watches the throttling of every read and write of the table %s and its indexes',
  (name) => {
    const places = alarms()
      .flatMap(metricsOf)
      .filter(
        ({ MetricName, Dimensions }) =>
          /Throttle/.test(MetricName) &&
          JSON.stringify(Dimensions?.at(-1)?.Value) === JSON.stringify({ Ref: dev.tables[name] }),
      )
      .map(({ MetricName, Dimensions }) => [MetricName, ...(Dimensions?.slice(0, -1).map(({ Value }) => Value) ?? [])])
    const indexes = TABLES[name].indexes.map((index) => [index.name])
    expect(places).toEqual(
      [[], ...indexes].flatMap((index) => [
        ['ReadThrottleEvents', ...index],
        ['WriteThrottleEvents', ...index],
      ]),
    )
  },
)

test('every alarm notifies one of the two topics when it begins and when it ends, and says in words what is wrong', () => {
  expect(alarms().length).toBeGreaterThanOrEqual(20)
  for (const alarm of alarms()) {
    expect(topics(dev).map((Ref) => [{ Ref }])).toContainEqual(alarm.AlarmActions)
    expect(alarm.OKActions).toEqual(alarm.AlarmActions)
    expect(alarm.AlarmDescription).toMatch(/^Waybill dev: .+\.\n.+\.\ndocs\/operate\.md#alarm-[a-z]+$/)
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024)
  }
})

test('every alarm but those of a stopped sweep and a stopped closing is quiet while nothing happens', () => {
  const loud = alarms().filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching')
  expect(loud.map(({ AlarmDescription }) => AlarmDescription)).toEqual([
    expect.stringContaining('No sweep'),
    expect.stringContaining('No run that closes days'),
  ])
})

test('nobody is called up for a single event: an alarm that pages has lasted for ten minutes at least', () => {
  const [page] = topics(dev)
  const paging = alarms().filter(({ AlarmActions }) => AlarmActions[0].Ref === page)
  expect(paging.length).toBeGreaterThanOrEqual(6)
  for (const { AlarmDescription, DatapointsToAlarm, EvaluationPeriods } of paging) {
    expect([AlarmDescription, DatapointsToAlarm >= 2, EvaluationPeriods]).toEqual([AlarmDescription, true, 3])
  }
})

test.each(['ServerErrors', 'UpstreamErrors', 'Errors', '5xx'])(
  'an alarm on %s pages for a share of the requests, and not for a few of them',
  (name) => {
    const [share] = alarms().filter((alarm) => metricsOf(alarm).some(({ MetricName }) => MetricName === name))
    const { Expression } = share.Metrics.find((query: Query) => query.Expression)
    expect(Expression).toBe('IF(FILL(part, 0) >= 5, 100 * FILL(part, 0) / FILL(whole, 1), 0)')
    expect(metricsOf(share).map(({ MetricName }) => MetricName)).toEqual([
      name,
      expect.stringMatching(/^(Requests|Invocations|Count)$/),
    ])
  },
)

/** The words of each alarm in a template, as a row of the runbook. */
function rowsOf(template: Template): string[] {
  const [page] = topicsIn(template)
  const notices = Object.values(template.findResources('AWS::Events::Rule')).map((rule) =>
    rowOf(pathOf(rule as Resource), 'ticket', rule.Properties.Description),
  )
  const ofAlarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map((alarm) => {
    const { AlarmDescription, AlarmActions } = alarm.Properties
    const by = AlarmActions[0].Ref === page ? 'page' : 'ticket'
    return rowOf(pathOf(alarm as Resource), by, AlarmDescription)
  })
  return [...ofAlarms, ...notices]
}

function rowOf(path: string, by: string, description: string): string {
  const [says = '', remedy, address] = description.split('\n')
  const [, anchor] = address?.split('#') ?? []
  const meaning = says.replace(/^Waybill prod: /, '').replace(/\.$/, '')
  return `| <a id="${anchor}"></a>\`${path.split('/').at(-1)}\` | ${by} | ${meaning} | ${remedy} |`
}

// Links are the document's own.
const runbook = () =>
  readDocument('docs/operate.md')
    .split('\n')
    .filter((line) => line.startsWith('| <a id="alarm-'))
    .map((line) => line.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'))

test('the runbook in docs/operate.md has a line for every alarm, in the alarm’s own words, and no other line', () => {
  const made = [mailed.template, edgeAlarms].flatMap(rowsOf)
  expect(made.length).toBeGreaterThan(25)
  expect(runbook().toSorted()).toEqual(made.toSorted())
})

test('an alarm names its line in the runbook', () => {
  const addresses = alarmsIn(mailed.template).map(({ AlarmDescription }) => AlarmDescription.split('\n')[2])
  expect(addresses).toContain('docs/operate.md#alarm-chaterrors')
})

// A metric has no data for a time in which nothing happened, and a sum with a part missing is missing itself.
test('an alarm that adds metrics up also goes off when only one of them has data', () => {
  const sums = alarms().filter((alarm) => metricsOf(alarm).length > 1)
  expect(sums.length).toBeGreaterThan(0)
  for (const { AlarmDescription, Metrics } of sums) {
    const queries = Metrics as Query[]
    const expression = queries.find(({ Expression }) => Expression)?.Expression ?? ''
    const filled = queries.filter(({ Id, MetricStat }) => MetricStat && expression.includes(`FILL(${Id}, `))
    expect([AlarmDescription, expression, filled.length]).toEqual([
      AlarmDescription,
      expression,
      metricsOf({ Metrics } as never).length,
    ])
  }
})

test('percentiles of time to first token and duration are watched', () => {
  const slow = alarms().filter(({ ExtendedStatistic }) => ExtendedStatistic)
  expect(
    slow.map((it) => [it.MetricName, it.ExtendedStatistic, it.Threshold, it.EvaluateLowSampleCountPercentile]),
  ).toEqual([
    ['TimeToFirstToken', 'p95', 10_000, 'ignore'],
    ['Duration', 'p95', 300_000, 'ignore'],
  ])
})

test('an alarm goes off before chat has all of its concurrency, if some is reserved', () => {
  const watching = (template: Template) => alarmsIn(template).filter((it) => it.MetricName === 'ConcurrentExecutions')
  expect(watching(dev.template)).toEqual([])
  expect(watching(prod.template)).toMatchObject([{ Statistic: 'Maximum', Threshold: 400 }])
})

test('an alarm watches DynamoDB’s own errors in the operations of requests on every table', () => {
  const tables = watched('AWS/DynamoDB', /^SystemErrors$/).filter((value) => typeof value === 'object')
  expect(new Set(tables.map((value) => JSON.stringify(value)))).toEqual(
    new Set(Object.values(dev.tables).map((Ref) => JSON.stringify({ Ref }))),
  )
})

test('alarms in us-east-1 watch this stage’s firewall and the end of its certificate', () => {
  const metrics = alarmsIn(edgeAlarms).flatMap(metricsOf)
  const blocked = metrics.find(({ Namespace }) => Namespace === 'AWS/WAFV2')
  expect(blocked).toMatchObject({
    MetricName: 'BlockedRequests',
    Dimensions: [
      { Name: 'Rule', Value: 'ALL' },
      { Name: 'WebACL', Value: 'Waybill-prod-firewall-eu-west-1' },
    ],
  })
  const ends = metrics.find(({ Namespace }) => Namespace === 'AWS/CertificateManager')
  expect(ends).toMatchObject({ MetricName: 'DaysToExpiry', Dimensions: [{ Name: 'CertificateArn' }] })
  expect(JSON.stringify(ends)).toContain('Waybill-prod-certificate-eu-west-1')
})

test('a deployment of this stage that failed or was stopped is told to people', () => {
  const { EventPattern, Targets } = only(mailed.template, 'AWS::Events::Rule').properties
  const application = { Ref: only(mailed.template, 'AWS::CodeDeploy::Application').id }
  expect(EventPattern.detail).toEqual({ application: [application], state: ['FAILURE', 'STOP'] })
  expect(Targets.map(({ Arn }: { Arn: unknown }) => Arn)).toEqual([{ Ref: topics(mailed)[2] }])
})

// A topic's own policy takes the place of the one by which its account may publish.
test('only CloudWatch of the same account may publish to the alarm topics, and nobody without encryption', () => {
  const policies = Object.values(dev.template.findResources('AWS::SNS::TopicPolicy')).map((it) => it.Properties)
  expect(policies.map(({ Topics }) => Topics)).toEqual(topics(dev).map((Ref) => [{ Ref }]))
  for (const { PolicyDocument, Topics } of policies) {
    expect(PolicyDocument.Statement).toEqual([
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
        Resource: Topics[0],
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ])
  }
})

test('alarms are mailed to the operator who gave addresses, and to nobody else', () => {
  expect(dev.template.findResources('AWS::SNS::Subscription')).toEqual({})
  const [page, ticket, notices] = topics(mailed)
  const subscriptions = Object.values(mailed.template.findResources('AWS::SNS::Subscription'))
  expect(subscriptions.map(({ Properties }) => Properties)).toEqual([
    { Protocol: 'email', Endpoint: 'operator@example.com', TopicArn: { Ref: page } },
    { Protocol: 'email', Endpoint: 'desk@example.com', TopicArn: { Ref: ticket } },
    { Protocol: 'email', Endpoint: 'desk@example.com', TopicArn: { Ref: notices } },
  ])
})

test('a monthly budget is mailed before it is spent, and is there only if it was set', () => {
  expect(dev.template.findResources('AWS::Budgets::Budget')).toEqual({})
  const { Budget, NotificationsWithSubscribers } = only(mailed.template, 'AWS::Budgets::Budget').properties
  expect(Budget).toEqual({ BudgetType: 'COST', TimeUnit: 'MONTHLY', BudgetLimit: { Amount: 100, Unit: 'USD' } })
  for (const { Notification, Subscribers } of NotificationsWithSubscribers) {
    expect([Notification.NotificationType, Notification.Threshold]).toEqual(
      Notification.NotificationType === 'ACTUAL' ? ['ACTUAL', 80] : ['FORECASTED', 100],
    )
    expect(Subscribers).toEqual([{ SubscriptionType: 'EMAIL', Address: 'operator@example.com' }])
  }
  expect(NotificationsWithSubscribers).toHaveLength(2)
})

type Widget = { readonly properties: { readonly title: string; readonly metrics: unknown[][] } }

const widgets = (): Widget[] =>
  JSON.parse(textOf(only(dev.template, 'AWS::CloudWatch::Dashboard').properties.DashboardBody)).widgets

test.each([
  ['requests', 'Requests', ['', 'model', 'provider']],
  ['errors', 'Errors', ['', 'errorCode']],
  ['server errors', 'ServerErrors', ['']],
  ['upstream failures', 'UpstreamFailures', ['']],
  ['answers with an upstream’s 502 or 504', 'UpstreamErrors', ['']],
  ['requests without a valid key', 'InvalidKeys', ['']],
  ['time to first token', 'TimeToFirstToken', ['', 'provider']],
  ['duration', 'Duration', ['']],
  ['prompt tokens', 'PromptTokens', ['', 'model']],
  ['completion tokens', 'CompletionTokens', ['', 'model']],
  ['credits', 'Credits', ['', 'model']],
  ['credits held', 'CreditsHeld', ['']],
  ['the provider cost of answers', 'UpstreamCost', ['']],
  ['the loss', 'Loss', ['']],
  ['estimates by characters', 'RoughEstimates', ['']],
  ['usage counts that were rejected', 'UsageRejected', ['']],
  ['usage beyond the hold', 'BilledAtBound', ['']],
  ['prompts above the context', 'ContextExceeded', ['', 'route']],
  ['answers beyond their cap', 'BeyondCap', ['']],
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
  const tokens = { promptTokens: 1, completionTokens: 1 }
  const figures = { ...tokens, ttftMs: 1, durationMs: 1, httpStatus: 500, cost: 1n, hold: 1n, upstreamCost: 2n }
  log.request({ errorCode: 'x', ...figures } as UsageRow)
  const answered = { ...figures, loss: 1n, usageRejected: true, usageCapped: true, estimatedBy: 'characters' }
  log.request({ ...answered, errorCode: 'x', httpStatus: 502 } as UsageRow)
  log.beyondCap('up', 'model')
  log.unpaid('up', 1n)
  log.lossReached('key_1', 'req_1')
  log.contextExceeded('up/m', 2, 1, 'req_1')
  log.upstreamFailed('up', new UpstreamFailure('credential', 'gone'))
  log.problem('what', new Error('x'), 'req_1')
  log.unsettled(new Error('x'), 'req_1')
  log.invalidKey()
  log.swept(1)
  log.closed(1, 0)
  type Directive = { Dimensions: string[][]; Metrics: { Name: string }[] }
  const directives = lines.flatMap((line): Directive[] => JSON.parse(line)._aws.CloudWatchMetrics)
  return new Set(
    directives.flatMap(({ Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name }) => Dimensions.map((set) => `${Name} by ${set.join()}`)),
    ),
  )
}
