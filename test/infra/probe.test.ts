import { beforeAll, expect, test } from '@jest/globals'
import { ENV } from '../../layers/gateway/names.ts'
import { pathOf, type Resource } from '../deployed/support/template.ts'
import { proseOf } from '../documents/support/markdown.ts'
import { type Statement, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

let dev: Synthesized
let prod: Synthesized
/** Prod, with the probe. */
let probed: Synthesized
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  probed = await synthesized('mailed')
}, 180_000)

const resources = (type: string) => Object.entries(probed.template.findResources(type))

/** The one resource at a place in the tree of constructs. */
function at(type: string, path: string) {
  const found = resources(type).filter(([, it]) => pathOf(it as Resource) === path)
  expect([path, found.length]).toEqual([path, 1])
  const [id = '', resource] = found[0] ?? []
  return { id, properties: resource?.Properties }
}

const fn = () => at('AWS::Lambda::Function', 'Functions/Probe')
const alias = () => at('AWS::Lambda::Alias', 'Functions/Probe/Live')
const alarm = () => at('AWS::CloudWatch::Alarm', 'Monitoring/ProbeFailed')

function rightsOf(role: string): string[] {
  const statements: Statement[] = resources('AWS::IAM::Policy')
    .filter(([, { Properties }]) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
  return statements.flatMap(({ Action, Resource: on }) =>
    [Action].flat().flatMap((action) => [on].flat().map((resource) => `${action} on ${textOf(resource)}`)),
  )
}

test('functions are told of the page for owners of keys only if the settings ask for it', () => {
  const told = ({ template }: Synthesized) =>
    Object.values(template.findResources('AWS::Lambda::Function'))
      .filter(({ Properties }) => Properties.Environment?.Variables?.[ENV.usagePage] === 'true')
      .map((one) => pathOf(one as Resource))
  expect([dev, prod, probed].map(told)).toEqual([[], [], expect.arrayContaining(['Functions/Api'])])
})

test('a stage has the probe only if its settings say so', () => {
  for (const { template } of [dev, prod]) expect(JSON.stringify(template.json)).not.toMatch(/probe/i)
  expect(probed.template.json.Outputs.ProbeFunction.Value).toEqual({ Ref: fn().id })
})

test('the probe may read its own secret and nothing else, and knows no table', () => {
  const { Role, LoggingConfig, Environment, Timeout } = fn().properties
  const log = `<${LoggingConfig.LogGroup.Ref}.Arn>`
  expect(rightsOf(Role['Fn::GetAtt'][0]).toSorted()).toEqual([
    `logs:CreateLogStream on ${log}`,
    `logs:PutLogEvents on ${log}`,
    'secretsmanager:GetSecretValue on arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:waybill/prod/probe-??????',
  ])
  expect(Environment).toEqual({
    Variables: { [ENV.stage]: 'prod', [ENV.baseUrl]: 'https://api.example.com/v1' },
  })
  // Ten seconds for the answer and five for the secret.
  expect(Timeout).toBeGreaterThan(15)
})

test('the probe is started every five minutes, once, by a scheduler that may start nothing else', () => {
  const { ScheduleExpression, State, Target } = at('AWS::Scheduler::Schedule', 'Functions/ProbeSchedule').properties
  expect([ScheduleExpression, State, Target.Arn]).toEqual(['rate(5 minutes)', 'ENABLED', { Ref: alias().id }])
  expect(Target.RetryPolicy).toMatchObject({ MaximumRetryAttempts: 0 })
  expect(rightsOf(Target.RoleArn['Fn::GetAtt'][0])).toEqual([`lambda:InvokeFunction on <${alias().id}>`])
  const queue = resources('AWS::Lambda::EventInvokeConfig').find(
    ([, { Properties }]) => Properties.FunctionName.Ref === fn().id,
  )?.[1].Properties
  expect(queue).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300 })
})

test('a probe that fails, or is not started at all, pages within a quarter of an hour', () => {
  const { Metrics, AlarmActions, ...settings } = alarm().properties
  expect(settings).toMatchObject({ EvaluationPeriods: 3, DatapointsToAlarm: 3, TreatMissingData: 'breaching' })
  const [page] = resources('AWS::SNS::Topic').map(([id]) => id)
  expect(AlarmActions).toEqual([{ Ref: page }])
  const watched = metricsIn(Metrics).map(({ Metric }) => [Metric.MetricName, Metric.Dimensions[0]?.Value])
  expect(watched.toSorted()).toEqual([
    ['Errors', { Ref: fn().id }],
    ['Invocations', { Ref: fn().id }],
  ])
})

type Stat = { readonly Metric: { readonly MetricName: string; readonly Dimensions: readonly { Value: unknown }[] } }
const metricsIn = (queries: readonly { MetricStat?: Stat }[] = []) =>
  queries.flatMap(({ MetricStat }) => MetricStat ?? [])

test('no deployment is rolled back for the probe, nor the probe by one', () => {
  const groups = resources('AWS::CodeDeploy::DeploymentGroup').map(([, it]) => it)
  expect(groups.length).toBeGreaterThan(1)
  expect(JSON.stringify(groups)).not.toContain(alarm().id)
  expect(groups.map((it) => pathOf(it as Resource))).not.toContain('Rollout/Probe')
})

test('the trail of the table of keys would record what is done there in the name of the probe', () => {
  const trail = JSON.stringify(at('AWS::CloudTrail::Trail', 'KeysTrail').properties.AdvancedEventSelectors)
  expect(trail).toContain('FunctionsChatRole')
  expect(trail).not.toContain('FunctionsProbeRole')
})

test('docs/deploy.md says what the probe adds to each month: its secret, and the metrics that alarms watch of it', () => {
  const metrics = resources('AWS::CloudWatch::Alarm')
    .flatMap(([, { Properties }]) => metricsIn(Properties.Metrics))
    .filter((metric) => JSON.stringify(metric).includes(`"${fn().id}"`))
  const dollars = ((40 + 10 * metrics.length) / 100).toFixed(2)
  expect(proseOf('docs/deploy.md').replaceAll(/\s+/g, ' ')).toContain(
    `\`probe\` adds $${dollars}: its secret and ${metrics.length} metrics`,
  )
})
