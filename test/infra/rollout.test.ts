import { expect, test } from '@jest/globals'
import { proseOf } from '../documents/support/markdown.ts'
import { graphOf } from './support/dependency-graph.ts'
import { type Synthesized, synthesized } from './support/synthesized.ts'
import type { Json } from './support/template.ts'

const dev = await synthesized('dev')
const prod = await synthesized('prod')
const abroad = await synthesized('forgetful')
const bare = await synthesized('bare')
const mailed = await synthesized('mailed')

const RELEASED = ['Chat', 'Api', 'Sweep', 'Close', 'Admin']
const TAKE_BACK = ['ApiErrors', 'ChatErrors', 'FunctionErrors', 'ReleaseErrors', 'ServerErrors', 'SweepStopped']
/** The functions that are rolled out, with their roles and the alarms that tell of faults of our own code. */
const ROLLED_OUT: [name: string, role: string, alarms: string[]][] = [
  ['Chat', 'Role', TAKE_BACK],
  ['Api', 'Role', TAKE_BACK],
  ['Admin', 'AdminRole', ['AdminErrors', 'AdminReleaseErrors', ...TAKE_BACK]],
]

const versionOf = (stack: Synthesized, name: string) => stack.at(`Functions/${name}/Live`).FunctionVersion
/** With the hash of its code and settings. */
const versionIdOf = ({ json }: Synthesized, name: string) =>
  Object.keys(json.Resources).find((id) => id.startsWith(`Functions${name}CurrentVersion`))

test.each(RELEASED)('the %s function is called in a version that no later deployment changes or deletes', (name) => {
  for (const stack of [dev, prod]) {
    expect(stack.at(`Functions/${name}/Live`)).toMatchObject({ Name: 'live' })
    const path = `Functions/${name}/CurrentVersion`
    expect(versionOf(stack, name)).toBe(`<${path}.Version>`)
    expect(stack.at(path)).toEqual({ FunctionName: `<Functions/${name}>` })
    // The streams on it end by themselves. One that its own deployment takes back is deleted: Lambda would not publish
    // the same code again.
    expect(stack.resources[path]).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    })
    const versions = Object.keys(stack.of('AWS::Lambda::Version')).filter((it) => !it.startsWith('Functions/Probe/'))
    expect(versions).toHaveLength(RELEASED.length)
  }
})

test('a version is made when the code or the settings of a function change, and only then', () => {
  // Another region changes no function, and another proof of CloudFront those that callers call.
  for (const name of RELEASED) expect(versionIdOf(abroad, name)).toBe(versionIdOf(dev, name))
  for (const name of ['Chat', 'Api']) expect(versionIdOf(bare, name)).not.toBe(versionIdOf(dev, name))
})

test.each(ROLLED_OUT)(
  'a deployment to prod gives the new version of %s a tenth of the calls for half an hour first, and any alarm takes it back',
  (name, role, alarms) => {
    const { ApplicationName, DeploymentGroupName } =
      prod.resources[`Functions/${name}/Live`].UpdatePolicy.CodeDeployLambdaAliasUpdate
    expect(DeploymentGroupName).toBe(`<Rollout/${name}>`)
    const { AlarmConfiguration, AutoRollbackConfiguration, ...group } = prod.at(`Rollout/${name}`)
    expect(group).toMatchObject({
      ApplicationName,
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent30Minutes',
      DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
      ServiceRoleArn: `<Rollout/${role}.Arn>`,
    })
    expect(AlarmConfiguration.Enabled).toBe(true)
    const watched = AlarmConfiguration.Alarms.map(({ Name }: Json) => Name)
    expect(watched.toSorted()).toEqual(alarms.toSorted().map((alarm) => `<Monitoring/${alarm}>`))
    expect(AutoRollbackConfiguration.Enabled).toBe(true)
    expect(AutoRollbackConfiguration.Events).toContain('DEPLOYMENT_STOP_ON_ALARM')
  },
)

test('docs/deploy.md names the alarms that take a deployment back', () => {
  const prose = proseOf('docs/deploy.md').replaceAll(/\s+/g, ' ')
  const [, told = ''] = /rolled back if one of these alarms goes off: ([^.]+)\./.exec(prose) ?? []
  expect(told.split(/, | or /).toSorted()).toEqual(TAKE_BACK.map((alarm) => `\`${alarm}\``))
})

// CloudFormation would refuse a circle, and an alarm that waits for the alias would be set up too late.
test('the alarms and the role of a deployment are ready before the calls are moved', () => {
  const graph = graphOf(prod.json)
  const behind = (id: string, seen = new Set<string>()): Set<string> => {
    for (const next of graph.get(id) ?? []) if (!seen.has(next)) behind(next, seen.add(next))
    return seen
  }
  const ids = Object.keys(prod.json.Resources)
  const paths = Object.keys(prod.resources)
  for (const name of ['Chat', 'Api']) {
    const needed = [...behind(ids[paths.indexOf(`Rollout/${name}`)] ?? '')].map((id) => paths[ids.indexOf(id)])
    expect(needed.length).toBeGreaterThan(10)
    expect(needed).toContain('Rollout/Role/DefaultPolicy')
    expect(needed.filter((path) => /^Functions\/(Chat|Api)\/Live$/.test(path ?? ''))).toEqual([])
  }
})

test('the version that is being deployed has its crashes, its 5xx answers and its calls counted apart from those of the one before', () => {
  const { Metrics, Threshold, EvaluationPeriods } = prod.at('Monitoring/ReleaseErrors')
  const metrics = Metrics.flatMap(({ MetricStat }: Json) => {
    if (!MetricStat) return []
    const { MetricName, Dimensions } = MetricStat.Metric
    return [[MetricName, ...Dimensions.map(({ Name, Value }: Json) => `${Name} ${Value}`).toSorted()]]
  })
  const expected = ['Functions/Chat', 'Functions/Api'].flatMap((path) => {
    const version = `<${path}/CurrentVersion.Version>`
    const ofLambda = [`ExecutedVersion ${version}`, `FunctionName <${path}>`, `Resource <${path}>:live`]
    const ofOurs = ['stage prod', `version <${path}>:${version}`]
    return [
      ['Errors', ...ofLambda],
      ['Invocations', ...ofLambda],
      ['ServerErrors', ...ofOurs],
    ]
  })
  expect(metrics).toEqual(expected)
  // With 10 % of the calls: 40 of its 100 fail, among 1,000 of all.
  const { Expression } = Metrics.find((query: Json) => query.Expression)
  const valueWith = (given: Record<string, number>) => evaluate(Expression, given)
  expect([Threshold, EvaluationPeriods]).toEqual([5, 1])
  expect(valueWith({ failed0: 40, called0: 100 })).toBe(40)
  expect(valueWith({ failed0: 4, called0: 100 })).toBe(4)
  expect(valueWith({ failed0: 2, called0: 4 })).toBe(0)
  expect(valueWith({ crashed1: 3, called1: 1_000 })).toBe(100)
  // A version that is not new: Lambda does not count its calls apart.
  expect(valueWith({ failed1: 50, called0: 60 })).toBe(0)
})

/** The value of an expression of CloudWatch with these metrics, as far as ours use its functions. */
function evaluate(expression: string, given: Record<string, number>): number {
  const names = [...new Set(expression.match(/(?<=FILL\()\w+/g))]
  const body = `return ${expression.replaceAll(' AND ', ' && ')}`
  const fill = (value: number | undefined, otherwise: number) => value ?? otherwise
  const choose = (isSo: boolean, yes: number, no: number) => (isSo ? yes : no)
  return new Function('IF', 'FILL', ...names, body)(choose, fill, ...names.map((name) => given[name]))
}

test('CodeDeploy may move the calls of these functions and read alarms, and nothing else', () => {
  const { ManagedPolicyArns, AssumeRolePolicyDocument } = prod.at('Rollout/Role')
  expect(ManagedPolicyArns).toBeUndefined()
  expect(AssumeRolePolicyDocument.Statement).toEqual([
    {
      Action: 'sts:AssumeRole',
      Effect: 'Allow',
      Principal: { Service: 'codedeploy.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': '<AWS::AccountId>' } },
    },
  ])
  const moved = ['<Functions/Chat.Arn>', '<Functions/Api.Arn>'].flatMap((arn) => [arn, `${arn}:live`])
  const move = ['GetAlias', 'GetProvisionedConcurrencyConfig', 'UpdateAlias']
  expect(prod.rightsOf('Rollout/Role')).toEqual(
    [
      'cloudwatch:DescribeAlarms on *',
      ...move.flatMap((action) => moved.map((arn) => `lambda:${action} on ${arn}`)),
    ].toSorted(),
  )
})

test('a deployment to dev is in force at once, and so are the sweep, the tokenizer and the probe in prod', () => {
  expect(dev.of('AWS::CodeDeploy::DeploymentGroup')).toEqual({})
  for (const name of RELEASED) expect(dev.resources[`Functions/${name}/Live`]).not.toHaveProperty('UpdatePolicy')
  expect(prod.resources['Functions/Sweep/Live']).not.toHaveProperty('UpdatePolicy')
  const groups = mailed.of('AWS::CodeDeploy::DeploymentGroup')
  expect(Object.keys(groups).toSorted()).toEqual(ROLLED_OUT.map(([name]) => `Rollout/${name}`).toSorted())
  expect(JSON.stringify(groups)).not.toContain('ProbeFailed')
})
