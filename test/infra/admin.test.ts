import { beforeAll, expect, test } from '@jest/globals'
import { ADMIN_PATHS } from '../../layers/gateway/endpoints.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { pathOf, type Resource } from '../deployed/support/template.ts'
import { type Statement, type Synthesized, synthesized, textOf } from './support/synthesized.ts'

let dev: Synthesized
let prod: Synthesized
/** Prod, with admin keys. */
let administered: Synthesized
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  administered = await synthesized('mailed')
}, 480_000)

const resources = (type: string) => administered.template.findResources(type)

/** The one resource at a place in the tree of constructs. */
function at(type: string, path: string): { id: string; properties: Resource['Properties'] } {
  const found = Object.entries(resources(type)).filter(([, it]) => pathOf(it as Resource) === path)
  expect([path, found.length]).toEqual([path, 1])
  const [id = '', resource] = found[0] ?? []
  return { id, properties: (resource as Resource).Properties }
}

const api = () => at('AWS::ApiGatewayV2::Api', 'AdminApi/HttpApi')
const fn = () => at('AWS::Lambda::Function', 'Functions/Admin')
const alias = () => at('AWS::Lambda::Alias', 'Functions/Admin/Live')

const LOG = ['logs:CreateLogStream', 'logs:PutLogEvents']
const RIGHTS = [
  'dynamodb:GetItem on Keys: KEY#* ADMIN#* EXTERNAL#* REFERENCE#* EVENT#* CATALOG VERSIONS AUDIT',
  'dynamodb:Query on Keys: KEY#* REFERENCE#* EVENT#* VERSIONS',
  'dynamodb:Query on Keys/index/bySweep',
  'dynamodb:Query on Keys/index/byCreation',
  'dynamodb:BatchGetItem on Keys: KEY#*',
  'dynamodb:Scan on Keys',
  'dynamodb:GetItem on Usage',
  'dynamodb:Query on Usage',
  'dynamodb:Query on Usage/index/byKey',
  'dynamodb:PutItem on Keys: KEY#* HASH#* EXTERNAL#* REFERENCE#* EVENT#* CLAIM#* VERSIONS AUDIT',
  'dynamodb:UpdateItem on Keys: KEY#* HASH#* CATALOG',
  'dynamodb:DeleteItem on Keys: HASH#* EXTERNAL#*',
  'dynamodb:GetItem on Keys: ADMIN#* ADMINGRANTS#*',
  'dynamodb:PutItem on Keys: ADMIN#* ADMINHASH#*',
  'dynamodb:UpdateItem on Keys: ADMIN#* ADMINHASH#*',
  'dynamodb:DeleteItem on Keys: ADMINHASH#*',
  'dynamodb:GetItem on Keys: ADMINHASH#*',
  'dynamodb:ConditionCheckItem on Keys: ADMIN#*',
  'dynamodb:UpdateItem on Keys: ADMINGRANTS#*',
  ...['Keys', 'Usage', 'Answers'].flatMap((table) =>
    ['DescribeTable', 'DescribeTimeToLive', 'DescribeContinuousBackups'].map((it) => `dynamodb:${it} on ${table}`),
  ),
  'secretsmanager:GetSecretValue on arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:waybill/prod/*',
]

test('every stage has the admin API, with admin keys only if its settings say so', () => {
  for (const { template } of [dev, prod, administered]) {
    expect(template.json.Outputs[OUTPUTS.adminUrl].Value).toEqual({ 'Fn::GetAtt': [api().id, 'ApiEndpoint'] })
    expect(JSON.stringify(template.json)).toContain(`ANY ${ADMIN_PATHS.signed}/{proxy+}`)
    const hasKeys = JSON.stringify(template.json).includes(`ANY ${ADMIN_PATHS.keyed}/{proxy+}`)
    expect(hasKeys).toBe(template === administered.template)
  }
})

test('AWS refuses every call of the admin API that is not signed, but on the path where the function asks for an admin key', () => {
  const routes = Object.values(resources('AWS::ApiGatewayV2::Route')).filter(
    ({ Properties }) => Properties.ApiId.Ref === api().id,
  )
  const told = routes.map(({ Properties }) => [Properties.RouteKey, Properties.AuthorizationType])
  expect(Object.fromEntries(told)).toEqual({
    [`ANY ${ADMIN_PATHS.signed}/{proxy+}`]: 'AWS_IAM',
    [`ANY ${ADMIN_PATHS.keyed}/{proxy+}`]: 'NONE',
  })
  expect(api().properties).not.toHaveProperty('CorsConfiguration')
})

test('the admin API leads to the alias of the admin function, which nothing else may call, and CloudFront does not lead to it', () => {
  const { IntegrationUri } = Object.values(resources('AWS::ApiGatewayV2::Integration')).find(
    ({ Properties }) => Properties.ApiId.Ref === api().id,
  )?.Properties ?? { IntegrationUri: undefined }
  expect(JSON.stringify(IntegrationUri)).toContain(alias().id)
  const permissions = Object.values(resources('AWS::Lambda::Permission'))
    .map(({ Properties }) => Properties)
    .filter(({ FunctionName }) => JSON.stringify(FunctionName).includes('FunctionsAdmin'))
  expect(permissions.length).toBeGreaterThan(0)
  for (const { FunctionName, Principal, SourceArn } of permissions) {
    expect(FunctionName).toEqual({ Ref: alias().id })
    expect(Principal).toBe('apigateway.amazonaws.com')
    expect(textOf(SourceArn)).toContain(`:<${api().id}>/`)
  }
  expect(JSON.stringify(resources('AWS::CloudFront::Distribution'))).not.toContain(api().id)
})

test('the admin function has the rights that the admin API needs and no others: it writes no row, and deletes no key', () => {
  const role = (fn().properties.Role as { 'Fn::GetAtt': string[] })['Fn::GetAtt'][0]
  const statements: Statement[] = Object.values(resources('AWS::IAM::Policy'))
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
  const told = statements.flatMap(({ Action, Resource: on, Condition }) =>
    [Action].flat().flatMap((action) => {
      if (action.startsWith('logs:')) return action
      const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] as string[] | undefined
      return [on].flat().map((resource) => {
        const table = textOf(resource).replace(/^<Tables([A-Z][a-z]+)\w*\.Arn>/, '$1')
        return `${action} on ${table}${keys ? `: ${keys.join(' ')}` : ''}`
      })
    }),
  )
  expect(told.toSorted()).toEqual([...LOG, ...RIGHTS].toSorted())
})

test.each([
  ['WaybillReader', 'what only looks', ['GET/admin/v1/*', 'POST/admin/v1/audits', 'POST/admin/v1/catalog/check']],
  ['WaybillOperator', 'all', ['*/admin/v1/*']],
])(
  '%s may call %s of the admin API, find its stage, and do nothing else, and nobody has it yet',
  (name, _, allowed) => {
    const { properties } = at('AWS::IAM::ManagedPolicy', `Operators/${name}`)
    const { Statement: statements } = properties.PolicyDocument as { Statement: Statement[] }
    for (const holders of ['Users', 'Groups', 'Roles']) expect(properties).not.toHaveProperty(holders)
    const [find, calls, ...others] = statements
    expect([find?.Action, find?.Resource]).toEqual(['cloudformation:DescribeStacks', { Ref: 'AWS::StackId' }])
    expect([calls?.Action, others]).toEqual(['execute-api:Invoke', []])
    const place = 'arn:<AWS::Partition>:execute-api:<AWS::Region>:<AWS::AccountId>'
    expect([calls?.Resource].flat().map(textOf).toSorted()).toEqual(
      allowed.map((call) => `${place}:<${api().id}>/$default/${call}`).toSorted(),
    )
  },
)

test('the admin function is rolled out as those of callers, and ends before API Gateway gives up', () => {
  const groups = Object.values(resources('AWS::CodeDeploy::DeploymentGroup')).map((it) => pathOf(it as Resource))
  expect(groups).toContain('Rollout/Admin')
  const { AlarmConfiguration, ServiceRoleArn } = at('AWS::CodeDeploy::DeploymentGroup', 'Rollout/Admin').properties as {
    AlarmConfiguration: { Alarms: { Name: { Ref: string } }[] }
    ServiceRoleArn: { 'Fn::GetAtt': [string, string] }
  }
  const alarms = AlarmConfiguration.Alarms.map(({ Name }) =>
    pathOf(resources('AWS::CloudWatch::Alarm')[Name.Ref] as Resource),
  )
  const [chat = []] = Object.values(resources('AWS::CodeDeploy::DeploymentGroup'))
    .filter((it) => pathOf(it as Resource) === 'Rollout/Chat')
    .map(({ Properties }) => Properties.AlarmConfiguration.Alarms)
  expect(alarms).toEqual(expect.arrayContaining(['Monitoring/AdminReleaseErrors', 'Monitoring/AdminErrors']))
  expect(AlarmConfiguration.Alarms).toEqual(expect.arrayContaining(chat))
  expect(ServiceRoleArn['Fn::GetAtt'][0]).toBe(at('AWS::IAM::Role', 'Rollout/AdminRole').id)
  expect(fn().properties).toMatchObject({ Timeout: 29 })
})

test('alarms watch the errors, the throttles and the 5xx of the admin API', () => {
  const alarms = Object.values(resources('AWS::CloudWatch::Alarm')).map((it) => [pathOf(it as Resource), it] as const)
  const watching = (id: string) =>
    alarms.filter(([, alarm]) => JSON.stringify(alarm.Properties).includes(`"${id}"`)).map(([path]) => path)
  const named = (names: string[]) => names.map((name) => `Monitoring/${name}`)
  expect(watching(api().id)).toEqual(named(['AdminErrors']))
  // A crash or a timeout of the function is a 5xx of its API.
  expect(watching(fn().id).toSorted()).toEqual(named(['AdminReleaseErrors', 'FunctionThrottles']))
})

test('the admin API logs who called which route, and no header, query or path', () => {
  const { AccessLogSettings, DefaultRouteSettings } = at('AWS::ApiGatewayV2::Stage', 'AdminApi/Stage').properties as {
    AccessLogSettings: { Format: string }
    DefaultRouteSettings: object
  }
  expect(JSON.parse(AccessLogSettings.Format)).toMatchObject({ user: '$context.identity.userArn' })
  expect(AccessLogSettings.Format).not.toMatch(/header|querystring|context\.path|authorizer/i)
  expect(DefaultRouteSettings).toEqual({ ThrottlingRateLimit: 20, ThrottlingBurstLimit: 20 })
})

test('the trail of the table of keys records what the admin function does there, as it does of people', () => {
  const trail = JSON.stringify(at('AWS::CloudTrail::Trail', 'KeysTrail').properties.AdvancedEventSelectors)
  expect(trail).toContain('FunctionsChatRole')
  expect(trail).not.toContain('FunctionsAdminRole')
})
