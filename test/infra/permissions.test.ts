import { describe, expect, test } from '@jest/globals'
import { MORE_ENV } from '../../layers/gateway/names.ts'
import { FUNCTIONS, type Name, type OptionalName, pathOfFunction } from '../support/functions.ts'
import { type Statement, type Synthesized, synthesized } from './support/synthesized.ts'

const dev = await synthesized('dev')
const prod = await synthesized('prod')
/** Prod with every optional part. */
const mailed = await synthesized('mailed')

const KEYS = '<Tables/Keys.Arn>'
const USAGE = '<Tables/Usage.Arn>'
const FIND_KEYS_TO_SWEEP = `dynamodb:Query on ${KEYS}/index/bySweep`
const FIND_KEY_OR_CATALOG = `dynamodb:GetItem on ${KEYS}: KEY#* HASH#* CATALOG`
const ADMIT_AND_SETTLE = `dynamodb:UpdateItem on ${KEYS}: KEY#*`
const READ_PURSES = `dynamodb:BatchGetItem on ${KEYS}: KEY#*`
const WRITE_ROW = `dynamodb:PutItem on ${USAGE}: ROWS#*`
const FIND_ROWS_OF_KEY = `dynamodb:Query on ${USAGE}/index/byKey`
const INVOKE_TOKENIZER = 'lambda:InvokeFunction on <Functions/Tokenizer.Arn>'
const TRAIL = 'arn:<AWS::Partition>:cloudtrail:<AWS::Region>:<AWS::AccountId>:trail/Waybill-prod-keys'
const secrets = (name: string) =>
  `secretsmanager:GetSecretValue on arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:waybill/${name}`
const each = (operations: string[], where: string) => operations.map((it) => `dynamodb:${it} on ${where}`)

const rightsIn = (stage: string): Partial<Record<Name | OptionalName, string[]>> => ({
  chat: [
    ...[FIND_KEY_OR_CATALOG, READ_PURSES, ADMIT_AND_SETTLE, WRITE_ROW, INVOKE_TOKENIZER, secrets(`${stage}/*`)],
    ...each(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'], '<Tables/Answers.Arn>'),
  ],
  api: [
    ...[FIND_KEY_OR_CATALOG, READ_PURSES, ADMIT_AND_SETTLE, WRITE_ROW, FIND_ROWS_OF_KEY, INVOKE_TOKENIZER],
    ...['ROWS', 'DAY'].map((items) => `dynamodb:GetItem on ${USAGE}: ${items}#*`),
  ],
  tokenizer: [],
  sweep: [
    ...[FIND_KEYS_TO_SWEEP, READ_PURSES, ADMIT_AND_SETTLE, WRITE_ROW],
    `dynamodb:GetItem on ${KEYS}: KEY#* CATALOG`,
    ...each(['GetItem', 'PutItem'], `${KEYS}: EVENT#*`),
    `dynamodb:DeleteItem on ${KEYS}: HASH#* EXTERNAL#*`,
    `dynamodb:UpdateItem on ${KEYS}: NOTICES`,
  ],
  close: [
    ...[`dynamodb:Scan on ${KEYS}`, FIND_ROWS_OF_KEY, `dynamodb:Query on ${USAGE}: ROWS#*`],
    ...each(['Query', 'GetItem', 'PutItem', 'UpdateItem', 'BatchGetItem'], `${USAGE}: DAY#*`),
    ...[`dynamodb:Query on ${KEYS}/index/byCreation`, ...each(['BatchGetItem', 'Query'], `${KEYS}: KEY#*`)],
    ...[`dynamodb:UpdateTimeToLive on ${USAGE}`, `dynamodb:GetItem on ${KEYS}: KEY#* CATALOG`],
    ...(stage === 'prod'
      ? [
          's3:PutObject on <UsageExport/Bucket.Arn>/usage/*',
          's3:PutObject on <UsageExport/Bucket.Arn>/focus/*',
          `cloudtrail:GetTrailStatus on ${TRAIL}`,
        ]
      : []),
  ],
})

/** Rights of the admin API, which writes no row and deletes no key, and of the probe, which knows no table. */
const OPTIONAL: Record<OptionalName, string[]> = {
  admin: [
    `dynamodb:GetItem on ${KEYS}: KEY#* ADMIN#* EXTERNAL#* REFERENCE#* EVENT#* CATALOG VERSIONS AUDIT`,
    `dynamodb:Query on ${KEYS}: KEY#* REFERENCE#* EVENT#* VERSIONS NOTICES`,
    ...[FIND_KEYS_TO_SWEEP, `dynamodb:Query on ${KEYS}/index/byCreation`, FIND_ROWS_OF_KEY],
    ...[READ_PURSES, `dynamodb:BatchGetItem on ${KEYS}: ADMIN#*`, `dynamodb:Scan on ${KEYS}`],
    ...each(['GetItem', 'Query', 'BatchGetItem'], USAGE),
    `dynamodb:PutItem on ${KEYS}: KEY#* HASH#* EXTERNAL#* REFERENCE#* EVENT#* CLAIM#* VERSIONS AUDIT`,
    `dynamodb:UpdateItem on ${KEYS}: KEY#* HASH#* CATALOG`,
    `dynamodb:DeleteItem on ${KEYS}: HASH#* EXTERNAL#*`,
    `dynamodb:GetItem on ${KEYS}: ADMIN#* ADMINGRANTS#*`,
    ...each(['PutItem', 'UpdateItem'], `${KEYS}: ADMIN#* ADMINHASH#*`),
    ...each(['DeleteItem', 'GetItem'], `${KEYS}: ADMINHASH#*`),
    `dynamodb:ConditionCheckItem on ${KEYS}: ADMIN#*`,
    `dynamodb:UpdateItem on ${KEYS}: ADMINGRANTS#*`,
    ...['Keys', 'Usage', 'Answers'].flatMap((table) =>
      each(['DescribeTable', 'DescribeTimeToLive', 'DescribeContinuousBackups'], `<Tables/${table}.Arn>`),
    ),
    secrets('prod/*'),
  ],
  probe: [secrets('prod/probe-??????')],
}

const trust = (Service: string) => ({
  Version: '2012-10-17',
  Statement: [{ Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service } }],
})

function expectRights(stack: Synthesized, name: Name | OptionalName, rights: readonly string[]): void {
  const { Role, LoggingConfig } = stack.function(name)
  const path = `${pathOfFunction(name)}Role`
  // No two functions share a role.
  expect(Role).toBe(`<${path}.Arn>`)
  const log = LoggingConfig.LogGroup.replace('>', '.Arn>')
  const logging = ['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} on ${log}`)
  expect(stack.rightsOf(path)).toEqual([...logging, ...rights].toSorted())
  expect(stack.at(path)).toEqual({ AssumeRolePolicyDocument: trust('lambda.amazonaws.com') })
}

test.each(Object.entries(OPTIONAL))('the %s function has the rights that it needs and no others', (name, rights) =>
  expectRights(mailed, name as OptionalName, rights),
)

test('with a webhook, the sweep may read its secret too, and nothing else knows the address', () => {
  const named = Object.entries(mailed.of('AWS::Lambda::Function')).filter(
    ([, { Environment }]) => Environment?.Variables?.[MORE_ENV.webhookUrl] !== undefined,
  )
  expect(named.map(([path]) => path)).toEqual(['Functions/Sweep'])
  expect(mailed.rightsOf('Functions/SweepRole')).toContain(secrets('prod/webhook-??????'))
})

/** Rights of on-call and of CodeDeploy to read what IAM knows no single resource for. */
const FOR_ALL = [
  ...['GetMetricData', 'GetMetricStatistics', 'ListMetrics'].map((action) => `cloudwatch:${action}`),
  ...['DescribeAlarms', 'DescribeAlarmHistory', 'GetDashboard'].map((action) => `cloudwatch:${action}`),
  ...['DescribeLogGroups', 'DescribeQueryDefinitions', 'GetQueryResults', 'StopQuery'].map((it) => `logs:${it}`),
]

describe.each([
  ['dev', dev],
  ['prod', prod],
])('the stage %s', (stage, stack) => {
  test.each(FUNCTIONS)('the %s function has the rights that it needs and no others', (name) =>
    expectRights(stack, name, rightsIn(stage)[name] ?? []),
  )

  test('the role that writes the first catalog may do nothing else, and there is no other role', () => {
    const roles = Object.keys(stack.of('AWS::IAM::Role'))
    const [other = '', ...more] = roles.filter((path) => !/^Functions\/\w*Role$|^Rollout\/(Admin)?Role$/.test(path))
    expect(more).toEqual([])
    const where = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["CATALOG"]}}'
    expect(stack.rightsOf(other)).toEqual([`dynamodb:PutItem on ${KEYS} ${where}`])
    const inFunctions = roles.filter((path) => path.startsWith('Functions/'))
    // With those of the admin function and of two schedulers, and in prod those of the probe.
    expect(inFunctions).toHaveLength(FUNCTIONS.length + (stage === 'prod' ? 5 : 3))
  })

  test('no permission has a wildcard in its action or covers every resource, but those to read', () => {
    const policies = { ...stack.of('AWS::IAM::Policy'), ...stack.of('AWS::IAM::ManagedPolicy') }
    const statements: Statement[] = Object.values(policies).flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    expect(statements.length).toBeGreaterThan(20)
    for (const { Action, Resource, Effect } of statements) {
      expect(Effect).toBe('Allow')
      for (const action of [Action].flat()) expect(action).not.toContain('*')
      if ([Action].flat().every((action) => FOR_ALL.includes(action))) continue
      expect([Resource].flat()).not.toContain('*')
    }
  })

  test('anyone may call chat by its URL, only the HTTP APIs may call api and admin, and nobody the sweep or the tokenizer', () => {
    const who = Object.values(stack.of('AWS::Lambda::Permission')).map((permission) => {
      const { Action, FunctionName, Principal, FunctionUrlAuthType, InvokedViaFunctionUrl, SourceArn } = permission
      const [, api] = /:<(\w+)\/HttpApi>\//.exec(SourceArn ?? '') ?? []
      const isByUrl = FunctionUrlAuthType === 'NONE' || InvokedViaFunctionUrl === true
      return `${Principal} may ${Action} ${FunctionName} through ${SourceArn ? api : isByUrl && 'its URL'}`
    })
    expect([...new Set(who)].sort()).toEqual([
      '* may lambda:InvokeFunction <Functions/Chat/Live> through its URL',
      '* may lambda:InvokeFunctionUrl <Functions/Chat/Live> through its URL',
      'apigateway.amazonaws.com may lambda:InvokeFunction <Functions/Admin/Live> through AdminApi',
      'apigateway.amazonaws.com may lambda:InvokeFunction <Functions/Api/Live> through Api',
    ])
  })
})

const FIND_STAGE = 'cloudformation:DescribeStacks on <AWS::StackId>'

test.each([
  ['WaybillReader', 'what only looks', ['GET/admin/v1/*', 'POST/admin/v1/audits', 'POST/admin/v1/catalog/check']],
  ['WaybillOperator', 'all', ['*/admin/v1/*']],
])('%s may call %s of the admin API, find its stage, and do nothing else, and nobody has it yet', (name, _, calls) => {
  const path = `Operators/${name}`
  for (const holders of ['Users', 'Groups', 'Roles']) expect(mailed.at(path)).not.toHaveProperty(holders)
  const api = 'arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>:<AdminApi/HttpApi>/$default'
  const allowed = calls.map((call) => `execute-api:Invoke on ${api}/${call}`)
  expect(mailed.rightsOf(path)).toEqual([FIND_STAGE, ...allowed].toSorted())
})

test.each([
  ['with a firewall, in another region', mailed, ['-firewall-eu-west-1']],
  ['as it comes', prod, ['']],
  ['dev, without both', dev, []],
] as const)(
  'on-call %s reads logs, metrics and deployments, sets concurrency, stops rollouts and suspends keys, and does nothing else',
  (_, stack, firewalls) => {
    const ours = (type: string) => Object.keys(stack.of(type)).filter((path) => !/^(AWS|Catalog|Firewall)/.test(path))
    const place = (service: string, region = '<AWS::Region>') =>
      `arn:<AWS::Partition>:${service}:${region}:<AWS::AccountId>`
    const firewallLogs = firewalls.map(
      (suffix) => `${place('logs', 'us-east-1')}:log-group:aws-waf-logs-Waybill-prod${suffix}:*`,
    )
    const logs = [...ours('AWS::Logs::LogGroup').map((path) => `<${path}.Arn>`), ...firewallLogs]
    const actions = (service: string, names: string[], resources: string[]) =>
      names.flatMap((name) => resources.map((resource) => `${service}:${name} on ${resource}`))
    const functions = ours('AWS::Lambda::Function').map((path) => `<${path}.Arn>`)
    const groups = firewalls.map(() => `${place('codedeploy')}:deploymentgroup:<Rollout/Application>/*`)
    const where = JSON.stringify({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['KEY#*'] },
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'status'] },
      StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
    })
    expect(stack.rightsOf('Operators/WaybillOnCall')).toEqual(
      [
        ...[FIND_STAGE, 'cloudformation:DescribeStackEvents on <AWS::StackId>'],
        ...FOR_ALL.map((action) => `${action} on *`),
        ...actions('logs', ['FilterLogEvents', 'GetLogEvents', 'DescribeLogStreams', 'StartQuery'], logs),
        // The description of a function has the origin secrets.
        ...actions(
          'lambda',
          ['Get', 'Put', 'Delete'].map((verb) => `${verb}FunctionConcurrency`),
          functions,
        ),
        ...actions('codedeploy', ['ListDeploymentGroups', 'GetDeploymentGroup', 'ListDeployments'], groups),
        ...actions('codedeploy', ['GetDeployment', 'StopDeployment'], groups),
        `dynamodb:UpdateItem on ${KEYS} ${where}`,
      ].toSorted(),
    )
  },
)
