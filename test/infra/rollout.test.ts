import { beforeAll, expect, test } from '@jest/globals'
import { pathOf, type Resource } from '../deployed/support/template.ts'
import { proseOf } from '../documents/support/markdown.ts'
import { FUNCTIONS, type Name } from '../support/functions.ts'
import { arnOf, liveOf, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

let dev: Synthesized
let prod: Synthesized
let abroad: Synthesized
let bare: Synthesized
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  abroad = await synthesized('forgetful')
  bare = await synthesized('bare')
}, 480_000)

const CALLED: readonly Name[] = ['chat', 'api']
const RELEASED = FUNCTIONS.filter((name) => name !== 'tokenizer')

const aliasOf = (stack: Synthesized, name: Name) =>
  stack.template.findResources('AWS::Lambda::Alias')[liveOf(stack, name)] ?? {}
const versionOf = (stack: Synthesized, name: Name): string =>
  aliasOf(stack, name).Properties.FunctionVersion['Fn::GetAtt'][0]
/** Besides that of the admin API, which test/infra/admin.test.ts has. */
const groupsIn = ({ template }: Synthesized) =>
  Object.fromEntries(
    Object.entries(template.findResources('AWS::CodeDeploy::DeploymentGroup')).filter(
      ([, group]) => pathOf(group as Resource) !== 'Rollout/Admin',
    ),
  )
const alarmsIn = ({ template }: Synthesized) => template.findResources('AWS::CloudWatch::Alarm')
const nameOf = (alarm: unknown) =>
  pathOf(alarm as Resource)
    .split('/')
    .at(-1) ?? ''

/** All that a resource refers to, directly or not. */
function behind({ template }: Synthesized, id: string, seen = new Set<string>()): Set<string> {
  const text = JSON.stringify(template.json.Resources[id] ?? {})
  const { DependsOn = [] } = template.json.Resources[id] ?? {}
  const named = [...text.matchAll(/"(?:Ref|Fn::GetAtt)":(?:\[)?"(\w+)"/g)].map(([, it]) => it ?? '')
  for (const next of [...named, ...[DependsOn].flat()]) {
    if (seen.has(next) || !template.json.Resources[next]) continue
    seen.add(next)
    behind({ template } as Synthesized, next, seen)
  }
  return seen
}

test.each(RELEASED)('the %s function is called in a version that no later deployment changes', (name) => {
  for (const stack of [dev, prod]) {
    expect(aliasOf(stack, name).Properties).toMatchObject({ Name: 'live' })
    const version = stack.template.findResources('AWS::Lambda::Version')[versionOf(stack, name)]
    expect(version?.Properties).toEqual({ FunctionName: { Ref: stack.functions[name] } })
  }
})

test('a deployment deletes no version that was ever in force, so the streams on it end by themselves', () => {
  for (const stack of [dev, prod]) {
    const versions = Object.values(stack.template.findResources('AWS::Lambda::Version'))
    // With that of the admin API.
    expect(versions).toHaveLength(RELEASED.length + 1)
    for (const { DeletionPolicy, UpdateReplacePolicy } of versions) {
      // One that its own deployment takes back is deleted: Lambda would not publish the same code again.
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
    }
  }
})

test('a version is made when the code or the settings of a function change, and only then', () => {
  for (const name of RELEASED) {
    // Another region changes no function.
    expect(versionOf(abroad, name)).toBe(versionOf(dev, name))
  }
  // Another proof of CloudFront does.
  for (const name of CALLED) expect(versionOf(bare, name)).not.toBe(versionOf(dev, name))
})

test.each(CALLED)(
  'a deployment to prod gives the new version of %s a tenth of the calls for half an hour first',
  (name) => {
    const { ApplicationName, DeploymentGroupName } = aliasOf(prod, name).UpdatePolicy.CodeDeployLambdaAliasUpdate
    const { Properties } = groupsIn(prod)[DeploymentGroupName.Ref] ?? {}
    expect(Properties).toMatchObject({
      ApplicationName,
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent30Minutes',
      DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
    })
  },
)

test.each(CALLED)('a new version of %s is taken back by each alarm that tells of faults of our own code', (name) => {
  const { DeploymentGroupName } = aliasOf(prod, name).UpdatePolicy.CodeDeployLambdaAliasUpdate
  const { AlarmConfiguration, AutoRollbackConfiguration } = groupsIn(prod)[DeploymentGroupName.Ref]?.Properties ?? {}
  const watched = AlarmConfiguration.Alarms.map((it: { Name: { Ref: string } }) => nameOf(alarmsIn(prod)[it.Name.Ref]))
  expect(AlarmConfiguration.Enabled).toBe(true)
  expect(watched.toSorted()).toEqual([
    'ApiErrors',
    'ChatErrors',
    'FunctionErrors',
    'ReleaseErrors',
    'ServerErrors',
    'SweepStopped',
  ])
  expect(AutoRollbackConfiguration.Enabled).toBe(true)
  expect(AutoRollbackConfiguration.Events).toContain('DEPLOYMENT_STOP_ON_ALARM')
  const [, told = ''] =
    /rolled back if one of these alarms goes off: ([^.]+)\./.exec(proseOf('docs/deploy.md').replaceAll(/\s+/g, ' ')) ??
    []
  expect(told.split(/, | or /).toSorted()).toEqual(watched.toSorted().map((alarm: string) => `\`${alarm}\``))
})

// CloudFormation would refuse a circle, and an alarm that waits for the alias would be set up too late.
test('the alarms and the role of a deployment are ready before the calls are moved', () => {
  const aliases = CALLED.map((name) => liveOf(prod, name))
  for (const [id, { Properties }] of Object.entries(groupsIn(prod))) {
    const needed = behind(prod, id)
    expect(needed.size).toBeGreaterThan(10)
    expect(aliases.filter((alias) => needed.has(alias))).toEqual([])
    const role = Properties.ServiceRoleArn['Fn::GetAtt'][0]
    const policies = Object.entries(prod.template.findResources('AWS::IAM::Policy')).filter(([, it]) =>
      it.Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role),
    )
    expect(policies).toHaveLength(1)
    for (const [policy] of policies) expect(needed).toContain(policy)
  }
})

test('the version that is being deployed has its errors counted apart from those of the one before', () => {
  const alarm = Object.values(alarmsIn(prod)).find((it) => nameOf(it) === 'ReleaseErrors')
  const dimensions = alarm?.Properties.Metrics.flatMap(
    ({ MetricStat }: { MetricStat?: { Metric: { Dimensions: { Name: string; Value: unknown }[] } } }) =>
      MetricStat ? [Object.fromEntries(MetricStat.Metric.Dimensions.map(({ Name, Value }) => [Name, Value]))] : [],
  )
  expect(dimensions).toEqual(
    CALLED.map((name) => ({
      FunctionName: { Ref: prod.functions[name] },
      Resource: { 'Fn::Join': ['', [{ Ref: prod.functions[name] }, ':live']] },
      ExecutedVersion: { 'Fn::GetAtt': [versionOf(prod, name), 'Version'] },
    })),
  )
})

test('CodeDeploy may move the calls of these functions and read alarms, and nothing else', () => {
  const [role, ...others] = new Set(
    Object.values(groupsIn(prod)).map(({ Properties }) => Properties.ServiceRoleArn['Fn::GetAtt'][0]),
  )
  expect(others).toEqual([])
  const { ManagedPolicyArns, AssumeRolePolicyDocument } = prod.template.json.Resources[role]?.Properties ?? {}
  expect(ManagedPolicyArns).toBeUndefined()
  expect(AssumeRolePolicyDocument.Statement).toEqual([
    {
      Action: 'sts:AssumeRole',
      Effect: 'Allow',
      Principal: { Service: 'codedeploy.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    },
  ])
  const [policy] = Object.values(prod.template.findResources('AWS::IAM::Policy')).filter(({ Properties }) =>
    Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role),
  )
  const [move, look] = policy?.Properties.PolicyDocument.Statement ?? []
  expect(look).toEqual({ Action: 'cloudwatch:DescribeAlarms', Effect: 'Allow', Resource: '*' })
  expect(move.Action).toEqual(['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'])
  const arns = CALLED.map((name) => textOf(arnOf(prod.functions[name])))
  expect(move.Resource.map(textOf).toSorted()).toEqual(arns.flatMap((arn) => [arn, `${arn}:live`]).toSorted())
})

test('a deployment to dev is in force at once, and so are the sweep and the tokenizer in prod', () => {
  expect(groupsIn(dev)).toEqual({})
  for (const name of RELEASED) expect(aliasOf(dev, name)).not.toHaveProperty('UpdatePolicy')
  expect(aliasOf(prod, 'sweep')).not.toHaveProperty('UpdatePolicy')
  expect(Object.keys(groupsIn(prod))).toHaveLength(CALLED.length)
})
