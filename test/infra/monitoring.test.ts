import { expect, test } from '@jest/globals'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { METRICS_NAMESPACE, TABLES } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { FUNCTIONS, pathOfFunction } from '../support/functions.ts'
import { readBeside, type Synthesized, synthesized } from './support/synthesized.ts'
import type { Json } from './support/template.ts'

const dev = await synthesized('dev')
const prod = await synthesized('prod')
/** Prod with every optional part, in Ireland. */
const mailed = await synthesized('mailed')
/** Its alarms in us-east-1. */
const edgeAlarms = await readBeside('mailed', 'edge-alarms-eu-west-1')

const PAGE = '<Monitoring/Alarms>'
const TICKET = '<Monitoring/Tickets>'

const alarmsIn = (stack: Synthesized) => Object.entries(stack.of('AWS::CloudWatch::Alarm'))
const alarms = alarmsIn(dev)
/** The ends of a job of AWS Backup without a copy. */
const FAILED = ['FAILED', 'ABORTED', 'EXPIRED', 'PARTIAL']
const nameOf = (path: string) => path.split('/').at(-1) ?? ''

/** The metrics that an alarm looks at, in itself or through an expression. */
const lookedAt = (alarm: Json): Json[] =>
  alarm.Metrics?.flatMap(({ MetricStat }: Json) => MetricStat?.Metric ?? []) ?? [alarm]

/** The same as texts: `Namespace Name of Dimension, Dimension`. */
function metricsOf(alarm: Json): string[] {
  return lookedAt(alarm).map(({ Namespace, MetricName, Dimensions = [] }) => {
    return `${Namespace} ${MetricName} of ${Dimensions.map(({ Value }: Json) => Value).join(', ')}`
  })
}
const watchedIn = (stack: Synthesized) => alarmsIn(stack).flatMap(([, alarm]) => metricsOf(alarm))
const watched = watchedIn(dev)
const expressionOf = ({ Metrics = [] }: Json) => Metrics.find((query: Json) => query.Expression)?.Expression

test.each([
  ...['ServerErrors', 'UpstreamErrors', 'CredentialFailures', 'Problems', 'InvalidKeys', 'Unsettled', 'SweptHolds'],
  ...['RoughEstimates', 'UsageRejected', 'BilledAtBound', 'ContextExceeded', 'BeyondCap', 'NegativeMargins'],
  ...['LossReached', 'UnpaidAnswers', 'ApiThrottles'],
])('an alarm watches the gateway’s metric %s', (name) => {
  expect(watched.filter((metric) => metric.startsWith(`${METRICS_NAMESPACE} ${name} `))).toEqual([
    `${METRICS_NAMESPACE} ${name} of dev`,
  ])
})

test('alarms watch the errors and throttles of every function, and the 5xx of both APIs', () => {
  const ofFunctions = FUNCTIONS.flatMap((name) =>
    ['Errors', 'Throttles'].map((metric) => `AWS/Lambda ${metric} of <${pathOfFunction(name)}>`),
  )
  // A crash or a timeout of the admin function is a 5xx of its API.
  const ofAdmin = 'AWS/Lambda Throttles of <Functions/Admin>'
  const ofApis = ['Api', 'AdminApi'].map((api) => `AWS/ApiGateway 5xx of <${api}/HttpApi>`)
  expect(watched).toEqual(expect.arrayContaining([...ofFunctions, ofAdmin, ...ofApis]))
})

// CloudFront's metrics are in us-east-1 only, and so is an alarm that can see them.
test('alarms watch the 5xx of CloudFront, its firewall and its certificate, in us-east-1, for a stage of any region', () => {
  const ofCloudFront = (stack: Synthesized) => watchedIn(stack).filter((it) => it.startsWith('AWS/CloudFront'))
  expect(ofCloudFront(dev)).toEqual(
    ['Requests', '5xxErrorRate'].map((name) => `AWS/CloudFront ${name} of <Edge/Distribution>, Global`),
  )
  expect(ofCloudFront(mailed)).toEqual([])
  const distribution = '<DistributionId of Waybill-prod in eu-west-1>'
  const certificate = '<Arn of Waybill-prod-certificate-eu-west-1 in us-east-1>'
  expect(watchedIn(edgeAlarms)).toEqual([
    `AWS/CloudFront Requests of ${distribution}, Global`,
    `AWS/CloudFront 5xxErrorRate of ${distribution}, Global`,
    'AWS/WAFV2 BlockedRequests of ALL, Waybill-prod-firewall-eu-west-1',
    `AWS/CertificateManager DaysToExpiry of ${certificate}`,
  ])
  expect(mailed.outputs.DistributionId).toBe('<Edge/Distribution>')
})

test.each([
  ['a sweep', dev, 'SweepStopped', 'Sweep', PAGE],
  ['a run that closes days', dev, 'ClosingStopped', 'Close', TICKET],
  ['a probe', mailed, 'ProbeFailed', 'Probe', PAGE],
] as const)('%s that fails, or is not started at all, is an alarm after three periods', (_, stack, name, fn, topic) => {
  const alarm = stack.at(`Monitoring/${name}`)
  expect(alarm).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 3, TreatMissingData: 'breaching' })
  expect(alarm.AlarmActions).toEqual([topic])
  const names = ['Invocations', 'Errors']
  expect(metricsOf(alarm)).toEqual(names.map((metric) => `AWS/Lambda ${metric} of <Functions/${fn}>`))
})

test('a trail that does not record is a ticket within the hour, and stays one while it lasts; without a trail there is none', () => {
  const hourly = { MetricName: 'TrailStopped', Period: 3_600, EvaluationPeriods: 1, AlarmActions: [TICKET] }
  expect(prod.at('Monitoring/TrailStopped')).toMatchObject(hourly)
  expect(watched.join()).not.toContain('TrailStopped')
})

test('refusals of API Gateway itself are counted in the logs of both APIs, those of the function are not', () => {
  const filters = Object.values(dev.of('AWS::Logs::MetricFilter'))
  const counted = filters.map(({ LogGroupName, FilterPattern }) => [LogGroupName, FilterPattern])
  const pattern = '{ $.status = "429" && $.error != "-" }'
  expect(counted).toEqual(['Api', 'AdminApi'].map((api) => [`<${api}/AccessLogs>`, pattern]))
  for (const { AccessLogSettings } of Object.values(dev.of('AWS::ApiGatewayV2::Stage'))) {
    const line = { stage: 'dev', status: '$context.status', error: '$context.error.message' }
    expect(JSON.parse(AccessLogSettings.Format)).toMatchObject(line)
  }
})

test('no alarm has more than the ten metrics that CloudWatch takes', () => {
  const all = [dev, prod, mailed, edgeAlarms].flatMap(alarmsIn)
  expect(all.filter(([, alarm]) => lookedAt(alarm).length > 10)).toEqual([])
})

test('days that are not closed or exported are an alarm within three hours', () => {
  const behind = dev.at('Monitoring/DaysBehind')
  expect(behind).toMatchObject({ MetricName: 'DaysBehind', Period: 3_600, Threshold: 2 })
  expect(behind).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 3 })
})

test('alarms go off before chat reaches its time limit, when answers are slow, and before it has all of its concurrency', () => {
  expect(dev.at('Monitoring/ChatDuration')).toMatchObject({
    MetricName: 'Duration',
    Statistic: 'Maximum',
    Dimensions: [{ Name: 'FunctionName', Value: '<Functions/Chat>' }],
  })
  expect(dev.at('Monitoring/ChatDuration').Threshold).toBeLessThan(900_000)
  const p95 = { ExtendedStatistic: 'p95', EvaluateLowSampleCountPercentile: 'ignore' }
  expect(dev.at('Monitoring/SlowFirstTokens')).toMatchObject({
    ...p95,
    MetricName: 'TimeToFirstToken',
    Threshold: 10_000,
  })
  expect(dev.at('Monitoring/SlowRequests')).toMatchObject({ ...p95, MetricName: 'Duration', Threshold: 300_000 })
  expect(watched.join()).not.toContain('ConcurrentExecutions')
  // Only if chat has executions of its own.
  expect(prod.resources['Monitoring/ConcurrencyHigh']).toBeUndefined()
  expect(mailed.at('Monitoring/ConcurrencyHigh')).toMatchObject({
    MetricName: 'ConcurrentExecutions',
    Statistic: 'Maximum',
    Threshold: 800,
  })
})

test('alarms watch the throttling of every read and write of every table and its indexes, and DynamoDB’s own errors', () => {
  for (const [id, name] of [
    ['Keys', 'keys'],
    ['Usage', 'usage'],
    ['Answers', 'answers'],
  ] as const) {
    const places = ['', ...TABLES[name].indexes.map((index) => `${index.name}, `)]
    const events = ['ReadThrottleEvents', 'WriteThrottleEvents']
    expect(metricsOf(dev.at(`Monitoring/${id}Throttles`))).toEqual(
      places.flatMap((place) => events.map((event) => `AWS/DynamoDB ${event} of ${place}<Tables/${id}>`)),
    )
  }
})

test('every alarm notifies one of the two topics when it begins and when it ends, and says in words what is wrong', () => {
  expect(alarms.length).toBeGreaterThanOrEqual(20)
  for (const [path, { AlarmActions, OKActions, AlarmDescription }] of alarms) {
    expect([[PAGE], [TICKET]]).toContainEqual(AlarmActions)
    expect(OKActions).toEqual(AlarmActions)
    expect(AlarmDescription).toMatch(/^Waybill dev: .+\.\n.+\.\ndocs\/operate\.md#alarm-[a-z]+$/)
    expect(AlarmDescription).toContain(`#alarm-${nameOf(path).toLowerCase()}`)
    expect(AlarmDescription.length).toBeLessThanOrEqual(1_024)
  }
})

test('every alarm but those of a stopped sweep and a stopped closing is quiet while nothing happens', () => {
  const loud = alarms.filter(([, { TreatMissingData }]) => TreatMissingData !== 'notBreaching')
  expect(loud.map(([path]) => nameOf(path))).toEqual(['SweepStopped', 'ClosingStopped'])
})

test('nobody is called up for a single event: an alarm that pages has lasted for ten minutes at least', () => {
  const paging = alarms.filter(([, { AlarmActions }]) => AlarmActions[0] === PAGE)
  expect(paging.length).toBeGreaterThanOrEqual(6)
  for (const [path, { DatapointsToAlarm, EvaluationPeriods }] of paging) {
    expect([path, DatapointsToAlarm >= 2, EvaluationPeriods]).toEqual([path, true, 3])
  }
})

test.each([
  ['ServerErrors', 'Waybill ServerErrors of dev', 'Waybill Requests of dev'],
  ['UpstreamErrors', 'Waybill UpstreamErrors of dev', 'Waybill Requests of dev'],
  ['ChatErrors', 'AWS/Lambda Errors of <Functions/Chat>', 'AWS/Lambda Invocations of <Functions/Chat>'],
  ['ApiErrors', 'AWS/ApiGateway 5xx of <Api/HttpApi>', 'AWS/ApiGateway Count of <Api/HttpApi>'],
])('the alarm %s pages for a share of the requests, and not for a few of them', (name, ...metrics) => {
  const alarm = dev.at(`Monitoring/${name}`)
  expect(alarm.AlarmActions).toEqual([PAGE])
  expect(expressionOf(alarm)).toBe('IF(FILL(part, 0) >= 5, 100 * FILL(part, 0) / FILL(whole, 1), 0)')
  expect(metricsOf(alarm)).toEqual(metrics)
})

/** The words of each alarm in a template, as a row of the runbook. */
function rowsOf(stack: Synthesized): string[] {
  const notices = Object.entries(stack.of('AWS::Events::Rule')).map(([path, { Description }]) =>
    rowOf(path, 'ticket', Description),
  )
  const ofAlarms = alarmsIn(stack).map(([path, { AlarmDescription, AlarmActions }]) =>
    rowOf(path, AlarmActions[0] === PAGE ? 'page' : 'ticket', AlarmDescription),
  )
  return [...ofAlarms, ...notices]
}

function rowOf(path: string, by: string, description: string): string {
  const [says = '', remedy, address] = description.split('\n')
  const [, anchor] = address?.split('#') ?? []
  const meaning = says.replace(/^Waybill prod: /, '').replace(/\.$/, '')
  return `| <a id="${anchor}"></a>\`${nameOf(path)}\` | ${by} | ${meaning} | ${remedy} |`
}

test('the runbook in docs/operate.md has a line for every alarm, in the alarm’s own words, and no other line', () => {
  const lines = readDocument('docs/operate.md').split('\n')
  // Links are the document's own.
  const runbook = lines
    .filter((line) => line.startsWith('| <a id="alarm-'))
    .map((line) => line.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'))
  const made = [mailed, edgeAlarms].flatMap(rowsOf)
  expect(made.length).toBeGreaterThan(25)
  expect(runbook.toSorted()).toEqual(made.toSorted())
})

// A metric has no data for a time in which nothing happened, and a sum with a part missing is missing itself.
test('an alarm that adds metrics up also goes off when only one of them has data', () => {
  const sums = alarms.filter(([, alarm]) => metricsOf(alarm).length > 1)
  expect(sums.length).toBeGreaterThan(0)
  for (const [path, alarm] of sums) {
    const parts = alarm.Metrics.filter(({ MetricStat }: Json) => MetricStat)
    const unfilled = parts.filter(({ Id }: Json) => !expressionOf(alarm).includes(`FILL(${Id}, `))
    expect([path, unfilled]).toEqual([path, []])
  }
})

test.each([
  [
    'a deployment of this stage',
    'Rollout',
    'RolledBack',
    { application: ['<Rollout/Application>'], state: ['FAILURE', 'STOP'] },
  ],
  [
    'a copy of the tables',
    'Backup',
    'CopyFailed',
    { resourceArn: ['<Tables/Keys.Arn>', '<Tables/Usage.Arn>'], state: FAILED },
  ],
])('%s that failed or was stopped is told to people', (_, part, name, detail) => {
  const { EventPattern, Targets } = mailed.at(`${part}/${name}`)
  expect(EventPattern.detail).toEqual(detail)
  expect(Targets.map(({ Arn }: Json) => Arn)).toEqual([`<${part}/Notices>`])
})

// A topic's own policy takes the place of the one by which its account may publish.
test('only CloudWatch of the same account may publish to the alarm topics, and nobody without encryption', () => {
  const policies = Object.values(dev.of('AWS::SNS::TopicPolicy'))
  expect(policies.map(({ Topics }) => Topics)).toEqual([[PAGE], [TICKET]])
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
        Condition: { StringEquals: { 'aws:SourceAccount': '<AWS::AccountId>' } },
      }),
    ])
  }
})

test('alarms are mailed to the operator who gave addresses, in every region that has some, and to nobody else', () => {
  const mailsIn = (stack: Synthesized) =>
    Object.values(stack.of('AWS::SNS::Subscription')).map(
      ({ Protocol, Endpoint, TopicArn }) => `${Protocol} ${Endpoint} ${TopicArn}`,
    )
  const both = [`email operator@example.com ${PAGE}`, `email desk@example.com ${TICKET}`]
  expect(mailsIn(dev)).toEqual([])
  const ofNotices = ['Rollout', 'Backup'].map((part) => `email desk@example.com <${part}/Notices>`)
  expect(mailsIn(mailed)).toEqual([...both, ...ofNotices])
  expect(mailsIn(edgeAlarms)).toEqual(both)
  for (const [, { AlarmActions }] of alarmsIn(edgeAlarms)) expect([PAGE, TICKET]).toContain(AlarmActions[0])
})

test('a monthly budget is mailed before it is spent, and is there only if it was set', () => {
  expect(dev.of('AWS::Budgets::Budget')).toEqual({})
  const { Budget, NotificationsWithSubscribers } = mailed.only('AWS::Budgets::Budget')
  expect(Budget).toEqual({ BudgetType: 'COST', TimeUnit: 'MONTHLY', BudgetLimit: { Amount: 100, Unit: 'USD' } })
  const told = NotificationsWithSubscribers.map(({ Notification: of, Subscribers }: Json) => [
    `${of.NotificationType} ${of.Threshold}`,
    Subscribers,
  ])
  const operator = [{ SubscriptionType: 'EMAIL', Address: 'operator@example.com' }]
  expect(told).toEqual([
    ['ACTUAL 80', operator],
    ['FORECASTED 100', operator],
  ])
})

type Widget = { readonly properties: { readonly title: string; readonly metrics: unknown[][] } }

const widgets: Widget[] = JSON.parse(dev.at('Monitoring/Dashboard').DashboardBody).widgets

const SHOWN: Readonly<Record<string, readonly string[]>> = {
  Requests: ['', 'model', 'provider'],
  Errors: ['errorCode'],
  TimeToFirstToken: ['', 'provider'],
  PromptTokens: ['', 'model'],
  CompletionTokens: ['', 'model'],
  Credits: ['', 'model'],
  ContextExceeded: ['', 'route'],
  UnpaidAnswers: ['', 'provider'],
}
const SHOWN_ALONE = [
  ...[
    'Refusals',
    'ServerErrors',
    'Calls',
    'Unrecorded',
    'UpstreamFailures',
    'UpstreamErrors',
    'InvalidKeys',
    'Duration',
    'CreditsHeld',
    'UpstreamCost',
  ],
  ...['Loss', 'RoughEstimates', 'UsageRejected', 'BilledAtBound', 'BeyondCap', 'Unsettled', 'SweptHolds'],
]

test.each([...Object.keys(SHOWN), ...SHOWN_ALONE])('the dashboard shows %s', (name) => {
  const shown = widgets.flatMap(read)
  for (const breakdown of SHOWN[name] ?? ['']) {
    expect(shown).toContain(`${name} by ${['stage', breakdown].filter(Boolean).join()}`)
  }
})

test('every widget of the dashboard has a title of its own', () => {
  const titles = widgets.map(({ properties }) => properties.title)
  expect(new Set(titles).size).toBe(titles.length)
  expect(titles.length).toBeGreaterThanOrEqual(12)
})

test('every metric of an alarm or the dashboard is one that the log writes, with the same dimensions', () => {
  const ofFilters = Object.values(dev.of('AWS::Logs::MetricFilter')).flatMap(({ MetricTransformations }) =>
    MetricTransformations.map((it: Json) => `${it.MetricName} by ${it.Dimensions.map(({ Key }: Json) => Key).join()}`),
  )
  const written = [...writtenMetrics(), ...ofFilters]
  const ours = [...alarms, ...alarmsIn(prod)]
    .flatMap(([, alarm]) => lookedAt(alarm))
    .filter(({ Namespace }) => Namespace === METRICS_NAMESPACE)
    .map(({ MetricName, Dimensions }) => `${MetricName} by ${Dimensions.map(({ Name }: Json) => Name).join()}`)
  const shown = widgets.flatMap(read)
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
  const OF_MODEL = { endpoint: 'chat.completions' }
  const figures = { ...tokens, ttftMs: 1, durationMs: 1, httpStatus: 500, cost: 1n, hold: 1n, upstreamCost: 2n }
  log.request({ errorCode: 'internal_error', ...OF_MODEL, ...figures } as UsageRow)
  log.request({ endpoint: 'credits', ...figures } as UsageRow)
  log.request({ ...figures, ...OF_MODEL, errorCode: 'upstream_error' } as UsageRow)
  const answered = { ...figures, loss: 1n, usageRejected: true, usageCapped: true, estimatedBy: 'characters' }
  log.request({ ...answered, ...OF_MODEL, errorCode: 'x', httpStatus: 502 } as UsageRow)
  log.beyondCap('up', 'model')
  log.unpaid('up', 1n)
  log.lossReached('key_1', 'req_1')
  log.contextExceeded('up/m', 2, 1, 'req_1')
  log.upstreamFailed('up', new UpstreamFailure('credential', 'gone'))
  log.problem('what', new Error('x'), 'req_1')
  log.unsettled(new Error('x'), 'req_1', { errorCode: 'service_unavailable' })
  log.invalidKey()
  log.swept(1)
  log.closed(1, 0, 'stopped')
  type Directive = { Dimensions: string[][]; Metrics: { Name: string }[] }
  const directives = lines.flatMap((line): Directive[] => JSON.parse(line)._aws.CloudWatchMetrics)
  return new Set(
    directives.flatMap(({ Dimensions, Metrics }) =>
      Metrics.flatMap(({ Name }) => Dimensions.map((set) => `${Name} by ${set.join()}`)),
    ),
  )
}
