import { beforeAll, describe, expect, test } from '@jest/globals'
import { pathOf, type Resource } from '../deployed/support/template.ts'
import { FUNCTIONS, type Name } from '../support/functions.ts'
import { arnOf, liveOf, only, type Statement, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

const made: Record<string, Synthesized> = {}
beforeAll(async () => {
  for (const stage of ['dev', 'prod'] as const) made[stage] = await synthesized(stage)
}, 480_000)

const LOG = ['logs:CreateLogStream on its own log', 'logs:PutLogEvents on its own log']
const READ_KEY = 'dynamodb:GetItem on keys where the key is like KEY#*'
const FIND_KEYS_TO_SWEEP = 'dynamodb:Query on the index bySweep of keys'
const FIND_KEY_OR_CATALOG = 'dynamodb:GetItem on keys where the key is like KEY#*, HASH#*, CATALOG'
const ADMIT_AND_SETTLE = 'dynamodb:UpdateItem on keys where the key is like KEY#*'
const WRITE_ROW = 'dynamodb:PutItem on usage where the key is like ROWS#*'
const KEEP_DAYS = ['GetItem', 'PutItem', 'UpdateItem'].map(
  (action) => `dynamodb:${action} on usage where the key is like DAY#*`,
)
const KEEP_ANSWERS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'].map((action) => `dynamodb:${action} on answers`)
const READ_ROW = 'dynamodb:GetItem on usage where the key is like ROWS#*'
const READ_DAY = 'dynamodb:GetItem on usage where the key is like DAY#*'
const FIND_ROWS_OF_KEY = 'dynamodb:Query on the index byKey of usage'
const ARN = 'arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret'

/** Rights of on-call and of CodeDeploy: test/infra/on-call.test.ts has the others of on-call. */
const FOR_ALL = [
  ...['GetMetricData', 'GetMetricStatistics', 'ListMetrics'].map((action) => `cloudwatch:${action}`),
  ...['DescribeAlarms', 'DescribeAlarmHistory', 'GetDashboard'].map((action) => `cloudwatch:${action}`),
  ...['DescribeLogGroups', 'DescribeQueryDefinitions', 'GetQueryResults', 'StopQuery'].map(
    (action) => `logs:${action}`,
  ),
]

const rightsIn = (stage: string): Record<Name, string[]> => ({
  chat: [
    ...LOG,
    FIND_KEY_OR_CATALOG,
    ADMIT_AND_SETTLE,
    ...KEEP_ANSWERS,
    WRITE_ROW,
    'lambda:InvokeFunction on the tokenizer',
    `secretsmanager:GetSecretValue on ${ARN}:waybill/${stage}/*`,
  ],
  api: [
    ...[...LOG, FIND_KEY_OR_CATALOG, ADMIT_AND_SETTLE, WRITE_ROW, READ_ROW, READ_DAY, FIND_ROWS_OF_KEY],
    'lambda:InvokeFunction on the tokenizer',
  ],
  tokenizer: LOG,
  sweep: [
    ...LOG,
    FIND_KEYS_TO_SWEEP,
    READ_KEY,
    ADMIT_AND_SETTLE,
    WRITE_ROW,
    'dynamodb:PutItem on keys where the key is like EVENT#*',
    'dynamodb:DeleteItem on keys where the key is like HASH#*, EXTERNAL#*',
  ],
  close: [
    ...LOG,
    'dynamodb:Scan on keys',
    FIND_ROWS_OF_KEY,
    'dynamodb:Query on usage where the key is like ROWS#*',
    'dynamodb:Query on usage where the key is like DAY#*',
    ...KEEP_DAYS,
    'dynamodb:UpdateTimeToLive on usage',
    ...(stage === 'prod' ? ['s3:PutObject on the folder usage/ of the export'] : []),
  ],
})

describe.each(['dev', 'prod'])('the stage %s', (stage) => {
  const stack = () => made[stage] as Synthesized
  const resources = (type: string) => stack().template.findResources(type)
  const functionOf = (name: Name) => resources('AWS::Lambda::Function')[stack().functions[name]]?.Properties

  const statementsOf = (role: string): Statement[] =>
    Object.values(resources('AWS::IAM::Policy'))
      .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)

  /** The rights of a role, one line for each action on each resource. */
  function rightsOf(role: string, named: Record<string, string> = {}): string[] {
    return linesOf(statementsOf(role), named)
  }

  function linesOf(statements: readonly Statement[], named: Record<string, string> = {}): string[] {
    const { keys, usage } = stack().tables
    const tables = Object.entries(stack().tables).map(([name, id]) => [JSON.stringify(arnOf(id)), name])
    const functions = { [JSON.stringify(arnOf(stack().functions.tokenizer))]: 'the tokenizer' }
    const names: Record<string, string> = { ...Object.fromEntries(tables), ...functions, ...named }
    return statements.flatMap(({ Effect, Action, Resource, Condition }) =>
      [Action].flat().flatMap((action) =>
        [Resource].flat().map((resource) => {
          const where = Condition === undefined ? '' : ` where ${conditionText(Condition)}`
          const target =
            names[JSON.stringify(resource)] ??
            textOf(resource)
              .replace(/^<UsageExportBucket\w+\.Arn>\/usage\/\*$/, 'the folder usage/ of the export')
              .replace(new RegExp(`^<${keys}\\.Arn>/index/(\\w+)$`), 'the index $1 of keys')
              .replace(new RegExp(`^<${usage}\\.Arn>/index/(\\w+)$`), 'the index $1 of usage')
          return `${Effect === 'Allow' ? '' : Effect}${action} on ${target}${where}`
        }),
      ),
    )
  }

  test.each(FUNCTIONS)(`the %s function in ${stage} has the rights that it needs and no others`, (name) => {
    const { Role, LoggingConfig } = functionOf(name)
    const role: string = Role['Fn::GetAtt'][0]
    const ownLog = { [JSON.stringify(arnOf(LoggingConfig.LogGroup.Ref))]: 'its own log' }
    expect(rightsOf(role, ownLog).sort()).toEqual(rightsIn(stage)[name].toSorted())
    expect(resources('AWS::IAM::Role')[role]?.Properties).toEqual({
      AssumeRolePolicyDocument: trust('lambda.amazonaws.com'),
    })
  })

  test(`no two functions in ${stage} share a role`, () => {
    expect(new Set(FUNCTIONS.map((name) => functionOf(name).Role['Fn::GetAtt'][0])).size).toBe(FUNCTIONS.length)
  })

  const schedulerRoles = (): string[] =>
    Object.values(resources('AWS::Scheduler::Schedule')).map(
      ({ Properties }) => Properties.Target.RoleArn['Fn::GetAtt'][0],
    )

  test.each(['sweep', 'close'] as const)(
    `a scheduler in ${stage} may start the function %s and nothing else, and for this account only`,
    (name) => {
      const started = { Ref: liveOf(stack(), name) }
      const schedules = Object.values(resources('AWS::Scheduler::Schedule')).map(({ Properties }) => Properties.Target)
      const { RoleArn } = schedules.find(({ Arn }) => JSON.stringify(Arn) === JSON.stringify(started))
      const role: string = RoleArn['Fn::GetAtt'][0]
      expect(rightsOf(role, { [JSON.stringify(started)]: 'it' })).toEqual(['lambda:InvokeFunction on it'])
      const { Statement } = resources('AWS::IAM::Role')[role]?.Properties.AssumeRolePolicyDocument ?? {}
      const { Condition, ...statement } = Statement[0]
      expect({ Version: '2012-10-17', Statement: [statement] }).toEqual(trust('scheduler.amazonaws.com'))
      expect(Statement).toHaveLength(1)
      const { 'aws:SourceAccount': account, 'aws:SourceArn': arn } = Condition.StringEquals
      expect([textOf(account), textOf(arn)]).toEqual([
        '<AWS::AccountId>',
        'arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule-group/default',
      ])
    },
  )

  test(`the role that writes the first catalog in ${stage} may do nothing else, and there is no other role`, () => {
    const ours = new Set([
      // With that of the admin API, which test/infra/admin.test.ts has.
      ...Object.values(resources('AWS::Lambda::Function'))
        .filter((fn) => pathOf(fn as Resource).startsWith('Functions/'))
        .map(({ Properties }) => Properties.Role['Fn::GetAtt'][0]),
      ...schedulerRoles(),
      ...Object.values(resources('AWS::CodeDeploy::DeploymentGroup')).map(
        ({ Properties }) => Properties.ServiceRoleArn['Fn::GetAtt'][0],
      ),
    ])
    const others = Object.keys(resources('AWS::IAM::Role')).filter((id) => !ours.has(id))
    expect(others).toHaveLength(1)
    expect(rightsOf(others[0] ?? '')).toEqual(['dynamodb:PutItem on keys where the key is CATALOG'])
  })

  test(`no permission in ${stage} has a wildcard in its action or covers every resource, but those to read what IAM knows no single resource for`, () => {
    const policies = { ...resources('AWS::IAM::Policy'), ...resources('AWS::IAM::ManagedPolicy') }
    const statements: Statement[] = Object.values(policies).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement,
    )
    expect(statements.length).toBeGreaterThan(20)
    for (const { Action, Resource, Effect } of statements) {
      expect(Effect).toBe('Allow')
      for (const action of [Action].flat()) expect(action).not.toContain('*')
      if ([Action].flat().every((action) => FOR_ALL.includes(action))) continue
      for (const resource of [Resource].flat()) expect(resource).not.toBe('*')
    }
  })

  test(`anyone may call chat in ${stage} by its URL, only the HTTP API may call api, and nobody the sweep or the tokenizer`, () => {
    const { template } = stack()
    const called = FUNCTIONS.filter((name) => name !== 'tokenizer')
    const api = only(template, 'AWS::ApiGatewayV2::Api').id
    const ours = Object.entries(resources('AWS::Lambda::Permission')).filter(([id]) => !id.startsWith('AdminApi'))
    const who = ours.map(([, { Properties }]) => {
      const { Action, FunctionName, Principal, FunctionUrlAuthType, InvokedViaFunctionUrl, SourceArn } = Properties
      const name = called.find((known) => liveOf(stack(), known) === FunctionName.Ref)
      const through = SourceArn
        ? textOf(SourceArn).includes(`:<${api}>/`) && 'this API'
        : (FunctionUrlAuthType === 'NONE' || InvokedViaFunctionUrl === true) && 'its URL'
      return `${Principal} may ${Action} ${name} through ${through}`
    })
    expect([...new Set(who)].sort()).toEqual([
      '* may lambda:InvokeFunction chat through its URL',
      '* may lambda:InvokeFunctionUrl chat through its URL',
      'apigateway.amazonaws.com may lambda:InvokeFunction api through this API',
    ])
  })
})

function trust(Service: string) {
  return {
    Version: '2012-10-17',
    Statement: [{ Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service } }],
  }
}

function conditionText(condition: unknown): string {
  const like = { 'ForAllValues:StringLike': 'like ', 'ForAllValues:StringEquals': '' }
  for (const [operator, word] of Object.entries(like)) {
    const keys = (condition as Record<string, Record<string, string[]>>)[operator]?.['dynamodb:LeadingKeys']
    if (keys && Object.keys(condition as object).length === 1) return `the key is ${word}${keys.join(', ')}`
  }
  return JSON.stringify(condition)
}
