import { runInNewContext } from 'node:vm'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { describe, expect, test } from '@jest/globals'
import { stageOf } from '../../infra/stages.ts'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { EXPORT_COLUMNS, exportPath } from '../../layers/gateway/domain/rows/export-line.ts'
import { ADMIN_PATHS, CHAT_PATHS } from '../../layers/gateway/endpoints.ts'
import { EDGE_HEADERS, ENV, OUTPUTS, SCHEMA_VERSION, TABLES } from '../../layers/gateway/names.ts'
import { readConfig } from '../../layers/gateway/platform/config.ts'
import { readNewCatalog, readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { createTableInput } from '../../layers/gateway/store/dynamodb/create-tables.ts'
import { MAX_BODY_BYTES, MAX_QUOTE_BYTES } from '../../layers/gateway/wire/requests/read-body.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { FUNCTION_NAMES, FUNCTIONS, FUNCTIONS_WITH_TABLES, pathOfFunction } from '../support/functions.ts'
import { openTestTables } from '../support/gateway.ts'
import { VAULTS } from './fixtures/domains.ts'
import { readFacts, readManifest, Synthesized, synthesized } from './support/synthesized.ts'
import type { Json } from './support/template.ts'

const dev = await synthesized('dev')
const prod = await synthesized('prod')
const bare = await synthesized('bare')
/** Prod with every optional part, in Ireland. */
const mailed = await synthesized('mailed')
const facts = await readFacts()

const stages = [
  { name: 'dev', stack: dev, policy: 'Delete', isProtected: false, retention: 14 },
  { name: 'prod', stack: prod, policy: 'Retain', isProtected: true, retention: 90 },
] as const

const variablesOf = (stack: Synthesized, name: Parameters<Synthesized['function']>[0]) =>
  stack.function(name).Environment?.Variables ?? {}

describe.each(stages)('the stack of $name', ({ name: stage, stack, policy, isProtected, retention }) => {
  test.each([
    ['Keys', 'keys'],
    ['Usage', 'usage'],
    ['Answers', 'answers'],
  ] as const)(
    'the table %s is as the local one, on demand, encrypted, kept or deleted as its stage says, and restorable unless it holds answers',
    (id, name) => {
      const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = createTableInput('x', TABLES[name])
      const { Properties, ...policies } = stack.resources[`Tables/${id}`]
      expect(policies).toMatchObject({ DeletionPolicy: policy, UpdateReplacePolicy: policy })
      expect(Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        TimeToLiveSpecification: { AttributeName: TABLES[name].timeToLive, Enabled: true },
        KeySchema,
      })
      expect(Properties.GlobalSecondaryIndexes).toEqual(GlobalSecondaryIndexes)
      expect(new Set(Properties.AttributeDefinitions)).toEqual(new Set(AttributeDefinitions))
      expect(Properties.Replicas).toEqual([
        expect.objectContaining({
          DeletionProtectionEnabled: isProtected,
          // Answers are kept for a day, and a backup would keep them for 35.
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: name !== 'answers' },
        }),
      ])
    },
  )

  test('every function runs on Node 24 on arm64, and only the tokenizer has a layer', () => {
    for (const name of FUNCTIONS) {
      expect(stack.function(name)).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] })
      expect([name, 'Layers' in stack.function(name)]).toEqual([name, name === 'tokenizer'])
    }
  })

  test.each(FUNCTIONS_WITH_TABLES)('the function %s knows its tables and its stage', (name) => {
    expect(variablesOf(stack, name)).toMatchObject({
      [ENV.keysTable]: '<Tables/Keys>',
      [ENV.usageTable]: '<Tables/Usage>',
      [ENV.answersTable]: '<Tables/Answers>',
      [ENV.stage]: stage,
    })
  })

  test('every function has a log group of its own, and every log deletes old entries', () => {
    const logs = FUNCTIONS.map((name) => stack.function(name).LoggingConfig.LogGroup.slice(1, -1))
    expect(new Set(logs).size).toBe(FUNCTIONS.length)
    const all = Object.entries(stack.of('AWS::Logs::LogGroup'))
    expect(all.map(([path]) => path)).toEqual(expect.arrayContaining(logs))
    for (const [path, { RetentionInDays }] of all) {
      // A first deployment that fails takes its logs with it: one with a name would stop the next.
      const kept = policy === 'Retain' ? 'RetainExceptOnCreate' : policy
      expect([path, RetentionInDays, stack.resources[path].DeletionPolicy]).toEqual([path, retention, kept])
    }
  })

  test('chat may take fifteen minutes, the tokenizer knows nothing, and only chat and the api, for quotes, know it', () => {
    expect(stack.function('chat').Timeout).toBe(900)
    const knowing = FUNCTIONS.filter((name) => ENV.tokenizerFunction in variablesOf(stack, name))
    expect(knowing).toEqual(['chat', 'api'])
    for (const name of knowing) expect(variablesOf(stack, name)[ENV.tokenizerFunction]).toBe('<Functions/Tokenizer>')
    expect(stack.function('tokenizer')).toMatchObject({ MemorySize: 1_769, Timeout: 10 })
    expect(stack.function('tokenizer')).not.toHaveProperty('Environment')
  })

  test('only chat has a Function URL, which streams and leaves the key check to it', () => {
    const { path, ...url } = stack.only('AWS::Lambda::Url')
    expect(stack.json.Resources[idOf(stack, path)]?.DependsOn).toEqual([idOf(stack, 'Functions/Chat/Live')])
    expect(url).toEqual({
      TargetFunctionArn: '<Functions/Chat.Arn>',
      Qualifier: 'live',
      AuthType: 'NONE',
      InvokeMode: 'RESPONSE_STREAM',
    })
  })

  test.each([
    ['Sweep', 5],
    ['Close', 20],
  ] as const)(
    '%s starts every %i minutes, has ended before it starts again, and is tried again neither by the scheduler nor by Lambda',
    (name, minutes) => expectStarted(stack, `Functions/${name}`, minutes),
  )

  test('browsers are answered by the functions alone: nothing in front of them has headers of its own for that', () => {
    expect(stack.only('AWS::Lambda::Url')).not.toHaveProperty('Cors')
    for (const api of Object.values(stack.of('AWS::ApiGatewayV2::Api')))
      expect(api).not.toHaveProperty('CorsConfiguration')
    for (const behaviour of behavioursOf(stack)) {
      expect(behaviour.AllowedMethods).toContain('OPTIONS')
      expect(behaviour).not.toHaveProperty('ResponseHeadersPolicyId')
    }
  })

  test('it is protected from its deletion as its tables are, says so, and can be told from the rest of the bill by a tag', async () => {
    const { terminationProtection = false, tags } = await readManifest(stage)
    expect(terminationProtection).toBe(isProtected)
    expect(tags).toMatchObject({ 'waybill:stage': stage })
    expect(stack.outputs[OUTPUTS.protected]).toBe(String(isProtected))
  })

  test('CloudFront identifies itself with a secret that AWS makes and that no template shows', () => {
    const secrets = Object.entries(stack.of('AWS::SecretsManager::Secret'))
    for (const [, secret] of secrets) {
      expect(secret).toMatchObject({ GenerateSecretString: { PasswordLength: 48, ExcludePunctuation: true } })
      expect(secret).not.toHaveProperty('SecretString')
    }
    const [first, next, ...more] = secrets.map(([path]) => `{{resolve:secretsmanager:<${path}>:SecretString:::}}`)
    expect(more).toEqual([])
    const { Origins } = configOf(stack)
    expect(Origins.map(({ OriginCustomHeaders }: Json) => OriginCustomHeaders)).toEqual(
      Array(2).fill([{ HeaderName: EDGE_HEADERS.origin, HeaderValue: first }]),
    )
    const called: readonly string[] = FUNCTION_NAMES
    for (const name of FUNCTIONS) {
      const accepted = variablesOf(stack, name)[ENV.originSecrets]
      expect([name, accepted]).toEqual([name, called.includes(name) ? `${first},${next}` : undefined])
    }
    for (const [path] of secrets) {
      const everywhere = JSON.stringify(stack.resources).split(`<${path}>`)
      for (const before of everywhere.slice(0, -1)) expect(before).toMatch(/\{\{resolve:secretsmanager:$/)
    }
  })

  test('CloudFront waits longer for a whole answer than chat does', () => {
    const timeouts = configOf(stack).Origins.map(
      ({ CustomOriginConfig }: Json) => CustomOriginConfig.OriginReadTimeout ?? 0,
    )
    const wholeAnswerMs = Number(variablesOf(stack, 'chat')[ENV.wholeAnswerMs])
    expect(wholeAnswerMs).toBeGreaterThanOrEqual(60_000)
    expect(wholeAnswerMs).toBeLessThanOrEqual(Math.max(...timeouts) * 1000 - 10_000)
  })
})

test('an index finds keys with open requests by when to sweep them, one all keys by their creation, and one usage rows by key and day', () => {
  const told = ['Keys', 'Usage'].flatMap((table) =>
    prod
      .at(`Tables/${table}`)
      .GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }: Json) =>
        [IndexName, ...KeySchema.map(({ AttributeName }: Json) => AttributeName), Projection.ProjectionType].join(' '),
      ),
  )
  expect(told).toEqual([
    'bySweep sk sweepAt KEYS_ONLY',
    'byCreation sk createdAt KEYS_ONLY',
    'byKey keyDay startedAt ALL',
  ])
})

function idOf(stack: Synthesized, path: string): string {
  const ids = Object.keys(stack.json.Resources)
  return ids[Object.keys(stack.resources).indexOf(path)] ?? ''
}

/** A scheduler starts it that may start nothing else, for this account only. */
function expectStarted(stack: Synthesized, path: string, minutes: number): void {
  const { ScheduleExpression, State, Target } = stack.at(`${path}Schedule`)
  expect([ScheduleExpression, State, Target.Arn]).toEqual([`rate(${minutes} minutes)`, 'ENABLED', `<${path}/Live>`])
  expect(stack.at(path).Timeout).toBeLessThan(minutes * 60)
  expect(Target.RetryPolicy.MaximumRetryAttempts).toBe(0)
  const queue = Object.values(stack.of('AWS::Lambda::EventInvokeConfig')).find((it) => it.FunctionName === `<${path}>`)
  expect(queue).toEqual({
    FunctionName: `<${path}>`,
    MaximumRetryAttempts: 0,
    // Lambda does not start one that has waited until the next.
    MaximumEventAgeInSeconds: minutes * 60,
    // The last part of the alias's ARN.
    Qualifier: { 'Fn::Select': [7, { 'Fn::Split': [':', `<${path}/Live>`] }] },
  })
  const role = Target.RoleArn.replace(/^<(.*)\.Arn>$/, '$1')
  expect(stack.rightsOf(role)).toEqual([`lambda:InvokeFunction on <${path}/Live>`])
  expect(stack.at(role).AssumeRolePolicyDocument.Statement).toEqual([
    {
      Action: 'sts:AssumeRole',
      Effect: 'Allow',
      Principal: { Service: 'scheduler.amazonaws.com' },
      Condition: {
        StringEquals: {
          'aws:SourceAccount': '<AWS::AccountId>',
          'aws:SourceArn': 'arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule-group/default',
        },
      },
    },
  ])
}

test('no function in dev has executions reserved, in prod the sweep and the closing have, and chat only if its number is set', () => {
  const reservedIn = (stack: Synthesized) =>
    Object.entries(stack.of('AWS::Lambda::Function')).flatMap(([path, { ReservedConcurrentExecutions: most }]) =>
      most === undefined ? [] : [[path, most]],
    )
  // A new account with a quota of 10 would refuse them.
  expect(reservedIn(dev)).toEqual([])
  const ofRuns = { 'Functions/Close': 1, 'Functions/Sweep': 2 }
  expect(Object.fromEntries(reservedIn(prod))).toEqual(ofRuns)
  expect(Object.fromEntries(reservedIn(mailed))).toEqual({ ...ofRuns, 'Functions/Chat': 1_000 })
  // Lambda refuses to reserve the last 100 of an account's quota.
  expect(readDocument('docs/deploy.md').replaceAll(/\s+/g, ' ')).toContain('`prod` needs a quota of at least 103')
})

describe('the APIs', () => {
  test('the HTTP API hands every call to the api function', () => {
    const { path, ...integration } = dev.only('AWS::ApiGatewayV2::Integration')
    expect(integration).toMatchObject({
      IntegrationType: 'AWS_PROXY',
      PayloadFormatVersion: '2.0',
      IntegrationUri: '<Functions/Api/Live>',
    })
    expect(dev.only('AWS::ApiGatewayV2::Route')).toMatchObject({
      RouteKey: '$default',
      Target: `integrations/<${path}>`,
    })
  })

  test.each([
    ['Api', dev, 500, []],
    ['AdminApi', mailed, 20, ['$context.identity.userArn']],
  ] as const)('%s is throttled as a whole, and logs no header, query or path', (name, stack, most, more) => {
    const { AccessLogSettings, ...settings } = stack.at(`${name}/Stage`)
    expect(settings).toMatchObject({
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: most, ThrottlingBurstLimit: most },
    })
    const { stage: _, ...logged } = JSON.parse(AccessLogSettings.Format)
    const variables = Object.values<string>(logged)
    const needed = ['$context.requestId', '$context.status', '$context.identity.sourceIp', ...more]
    expect(variables).toEqual(expect.arrayContaining(needed))
    // A key may have been sent there by mistake.
    for (const variable of variables) {
      expect(variable).toMatch(/^\$context\.[A-Za-z.]+$/)
      expect(variable).not.toMatch(/header|query|path|param|body|authorizer|domain/i)
    }
    expect(AccessLogSettings.DestinationArn).toBe(`<${name}/AccessLogs.Arn>`)
  })

  test('every stage has the admin API, with admin keys only if its settings say so, and AWS refuses other calls that are not signed', () => {
    const routesOf = (stack: Synthesized) =>
      Object.values(stack.of('AWS::ApiGatewayV2::Route'))
        .filter(({ ApiId }) => ApiId === '<AdminApi/HttpApi>')
        .map(({ RouteKey, AuthorizationType }) => `${RouteKey} ${AuthorizationType}`)
    const signed = `ANY ${ADMIN_PATHS.signed}/{proxy+} AWS_IAM`
    for (const stack of [dev, prod]) expect(routesOf(stack)).toEqual([signed])
    expect(routesOf(mailed).toSorted()).toEqual([`ANY ${ADMIN_PATHS.keyed}/{proxy+} NONE`, signed].toSorted())
    for (const stack of [dev, prod, mailed])
      expect(stack.outputs[OUTPUTS.adminUrl]).toBe('<AdminApi/HttpApi.ApiEndpoint>')
  })

  test('the admin API leads to the admin function, which ends before API Gateway gives up, and CloudFront does not lead to it', () => {
    const integrations = Object.values(mailed.of('AWS::ApiGatewayV2::Integration'))
    expect(integrations.find(({ ApiId }) => ApiId === '<AdminApi/HttpApi>')).toMatchObject({
      IntegrationUri: '<Functions/Admin/Live>',
    })
    expect(mailed.function('admin').Timeout).toBe(29)
    expect(JSON.stringify(mailed.of('AWS::CloudFront::Distribution'))).not.toContain('AdminApi')
  })
})

const configOf = (stack: Synthesized) => stack.only('AWS::CloudFront::Distribution').DistributionConfig
const behavioursOf = (stack: Synthesized) => {
  const { DefaultCacheBehavior, CacheBehaviors } = configOf(stack)
  return [DefaultCacheBehavior, ...CacheBehaviors]
}

describe('CloudFront', () => {
  const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'
  const ALL_VIEWER_EXCEPT_HOST_HEADER = 'b689b0a8-53d0-40ab-baf2-68738e2966ac'
  const originOf = ({ TargetOriginId }: Json) => configOf(dev).Origins.find(({ Id }: Json) => Id === TargetOriginId)
  const hostOf = (url: string) => ({ 'Fn::Select': [2, { 'Fn::Split': ['/', url] }] })

  test('CloudFront sends chat to its Function URL and everything else to the API', () => {
    const [rest, ...chats] = behavioursOf(dev)
    expect(chats.map(({ PathPattern }: Json) => PathPattern)).toEqual(CHAT_PATHS.map((start) => `${start}*`))
    const { path } = dev.only('AWS::Lambda::Url')
    for (const chat of chats) expect(originOf(chat).DomainName).toEqual(hostOf(`<${path}.FunctionUrl>`))
    expect(originOf(rest).DomainName).toEqual(hostOf('<Api/HttpApi.ApiEndpoint>'))
    // Two keep-alives are fifteen seconds apart.
    expect(originOf(chats[0]).CustomOriginConfig).toMatchObject({
      OriginReadTimeout: 120,
      OriginProtocolPolicy: 'https-only',
    })
  })

  test('CloudFront caches and compresses nothing, takes every method, and passes on every header but Host', () => {
    const { path } = dev.only('AWS::CloudFront::Function')
    for (const behaviour of behavioursOf(dev)) {
      expect(behaviour).toMatchObject({
        CachePolicyId: CACHING_DISABLED,
        OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST_HEADER,
        ViewerProtocolPolicy: 'https-only',
        Compress: false,
        FunctionAssociations: [{ EventType: 'viewer-request', FunctionARN: `<${path}.FunctionARN>` }],
      })
      expect(behaviour.AllowedMethods.toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
    }
  })

  test('CloudFront takes IPv6 unless its stage switches it off, and the outputs say which', () => {
    const without = new Synthesized(facts.withoutIpv6)
    for (const [stack, ipv6] of [
      [dev, true],
      [without, false],
    ] as const) {
      expect(configOf(stack).IPV6Enabled).toBe(ipv6)
      expect(stack.outputs[OUTPUTS.ipv6]).toBe(String(ipv6))
    }
    expect(bare.outputs[OUTPUTS.ipv6]).toBe('true')
  })

  const OTHER = { value: '10.0.0.1' }
  test.each([
    ['no address', {}],
    ['an address of its own choosing', { [EDGE_HEADERS.viewer]: OTHER }],
    ['two addresses', { [EDGE_HEADERS.viewer]: { ...OTHER, multiValue: [OTHER, { value: '10.0.0.2' }] } }],
  ])('CloudFront passes on the caller’s true address if the caller sent %s', (_, sent) => {
    const { FunctionCode, FunctionConfig } = dev.only('AWS::CloudFront::Function')
    const headers = { host: { value: 'x' } }
    const request = { method: 'POST', uri: '/v1/chat/completions' }
    const event = { viewer: { ip: '203.0.113.9' }, request: { ...request, headers: { ...headers, ...sent } } }
    const passedOn = runInNewContext(`${FunctionCode};handler(event)`, { event })
    expect(JSON.parse(JSON.stringify(passedOn))).toEqual({
      ...request,
      headers: { ...headers, [EDGE_HEADERS.viewer]: { value: '203.0.113.9' } },
    })
    expect(FunctionConfig.Runtime).toBe('cloudfront-js-2.0')
  })

  test.each([
    ['is short', 3_000_000, 'utf8'],
    ['could double', 3_000_001, 'base64'],
    ['is as long as the gateway takes', MAX_QUOTE_BYTES, 'base64'],
    ['is as long as Lambda takes', 4_600_000, 'base64'],
    ['does not say how long it is', undefined, 'base64'],
  ] as const)(
    'a body that %s fits into the event of Lambda with %s bytes of quotation marks, as %s',
    (_, bytes, form) => {
      const { FunctionCode } = dev.only('AWS::CloudFront::Function')
      const length = bytes !== undefined && { 'content-length': { value: String(bytes) } }
      const headers = { 'content-type': { value: 'application/json' }, ...length }
      const event = { viewer: { ip: '203.0.113.9' }, request: { headers } }
      const passedOn = runInNewContext(`${FunctionCode};handler(event)`, { event })
      const types = [passedOn.headers['content-type'].value, passedOn.headers[EDGE_HEADERS.type]?.value]
      expect(types).toEqual(
        form === 'utf8' ? ['application/json', undefined] : ['application/octet-stream', 'application/json'],
      )
      const body = JSON.stringify(Buffer.alloc(bytes ?? 0, '"').toString(form))
      expect(Buffer.byteLength(body) + 64 * 1024).toBeLessThan(6 * 1024 * 1024)
    },
  )

  test('a longer body than Lambda takes is refused by CloudFront in the words of both contracts', () => {
    const { FunctionCode } = dev.only('AWS::CloudFront::Function')
    const event = { viewer: { ip: '203.0.113.9' }, request: { headers: { 'content-length': { value: '4600001' } } } }
    const { statusCode, body } = runInNewContext(`${FunctionCode};handler(event)`, { event })
    const error = { type: 'invalid_request_error', param: null, code: 'request_too_large' }
    const message = expect.stringContaining(`at most ${MAX_BODY_BYTES} bytes`)
    expect([statusCode, JSON.parse(body)]).toEqual([413, { type: 'error', error: { ...error, message } }])
  })

  test('a raised number makes another secret the one that CloudFront sends, and keeps the former one and the next one accepted', () => {
    const all = facts.originSecrets.map(({ sent, accepted }) => ({
      sent: JSON.stringify(sent),
      accepted: JSON.stringify(accepted),
    }))
    const numberIn = (text: string) => [...text.matchAll(/"OriginSecret(\d)/g)].map(([, number]) => Number(number))
    expect(all.map(({ sent, accepted }) => [numberIn(sent), numberIn(accepted)])).toEqual([
      [[1], [1, 2]],
      [[2], [1, 2, 3]],
      [[3], [2, 3, 4]],
    ])
  })

  test('a stack without CloudFront has no distribution, no secret and no base URL', () => {
    for (const type of ['AWS::CloudFront::Distribution', 'AWS::CloudFront::Function', 'AWS::SecretsManager::Secret']) {
      expect(bare.of(type)).toEqual({})
    }
    const unwanted = `resolve:secretsmanager|${ENV.originSecrets}|${ENV.wholeAnswerMs}`
    expect(JSON.stringify(bare.json)).not.toMatch(new RegExp(unwanted))
  })
})

test('a stage that exports closed days has a private bucket that outlives it, and a table of the exported columns by day', () => {
  const { Properties, DeletionPolicy } = prod.resources['UsageExport/Bucket']
  expect(DeletionPolicy).toBe('Retain')
  expect(Properties).toMatchObject({
    PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
    BucketEncryption: { ServerSideEncryptionConfiguration: [{}] },
    VersioningConfiguration: { Status: 'Enabled' },
  })
  expect(Properties).not.toHaveProperty('BucketName')
  const { TableInput, DatabaseName } = prod.at('UsageExport/Table')
  expect(TableInput.StorageDescriptor.Columns).toEqual(
    EXPORT_COLUMNS.map(({ name, type }) => ({ Name: name, Type: type })),
  )
  // The folder of a day, as a run writes it.
  const [folder] = exportPath('2026-11-14', 0).split('2026-11-14')
  expect(TableInput.Parameters['storage.location.template']).toBe(`s3://<UsageExport/Bucket>/${folder}\${dt}/`)
  expect(TableInput).toMatchObject({ PartitionKeys: [{ Name: 'dt', Type: 'string' }], Name: 'usage' })
  expect(DatabaseName).toBe('waybill_prod')
  expect(variablesOf(prod, 'close')[ENV.exportBucket]).toBe('<UsageExport/Bucket>')
  expect(prod.function('close').MemorySize).toBe(3_538)
  expect(dev.of('AWS::S3::Bucket')).toEqual({})
})

test('functions know the settings of their stage: for how long rows are kept, whether users and tags are, and whether there is a page for owners', () => {
  const told = ['WAYBILL_KEEP_ROWS_DAYS', 'WAYBILL_ATTRIBUTION', 'WAYBILL_USAGE_PAGE']
  for (const name of FUNCTIONS_WITH_TABLES) {
    const valuesIn = (stack: Synthesized) => told.map((variable) => variablesOf(stack, name)[variable])
    expect([name, valuesIn(mailed), valuesIn(prod)]).toEqual([
      name,
      ['400', 'false', 'true'],
      [undefined, 'true', 'false'],
    ])
  }
  const names = { [ENV.keysTable]: 'k', [ENV.usageTable]: 'u', [ENV.answersTable]: 'a' }
  expect(readConfig({ ...names, [ENV.attribution]: 'false' }).isUnattributed).toBe(true)
  expect(readConfig(names).isUnattributed).toBe(false)
  // The part of all chats that one key may have, of an account's 1,000 if the stage has none of its own.
  const atOnce = (variables: object) => readConfig({ ...names, ...variables }).mostAtOnce
  const { [ENV.keyShare]: keyShare, [ENV.chatConcurrency]: chats } = variablesOf(prod, 'chat')
  expect([keyShare, chats, atOnce({ [ENV.keyShare]: keyShare }), atOnce({})]).toEqual([
    '0.2',
    undefined,
    200,
    undefined,
  ])
  expect([100, 3].map((few) => atOnce({ [ENV.keyShare]: '0.2', [ENV.chatConcurrency]: String(few) }))).toEqual([20, 1])
})

test('prod has the probe, and dev only if its settings say so; it knows no table and is started every five minutes', () => {
  expect(JSON.stringify(dev.json)).not.toMatch(/probe/i)
  expect(prod.outputs.ProbeFunction).toBe('<Functions/Probe>')
  expect(mailed.outputs.ProbeFunction).toBe('<Functions/Probe>')
  expect(variablesOf(mailed, 'probe')).toEqual({
    [ENV.stage]: 'prod',
    [ENV.baseUrl]: 'https://api.example.com/v1',
    [ENV.apiUrl]: 'https://api.example.com/v1',
  })
  // Ten seconds for each answer and five for the secret.
  expect(mailed.function('probe').Timeout).toBeGreaterThan(25)
  expectStarted(mailed, pathOfFunction('probe'), 5)
})

test('with vaults elsewhere, keys and usage are copied to each of them every day, under a key of our own that their accounts can read', () => {
  expect(JSON.stringify(prod.json)).not.toContain('AWS::Backup')
  const { BackupPlanRule: rules } = mailed.only('AWS::Backup::BackupPlan').BackupPlan
  const copies = VAULTS.map((arn) => ({ DestinationBackupVaultArn: arn, Lifecycle: { DeleteAfterDays: 14 } }))
  const rule = { ScheduleExpression: 'cron(0 5 * * ? *)', TargetBackupVault: '<Backup/Vault.BackupVaultName>' }
  expect(rules).toEqual([expect.objectContaining({ ...rule, CopyActions: copies, Lifecycle: { DeleteAfterDays: 3 } })])
  const { Resources, IamRoleArn } = mailed.only('AWS::Backup::BackupSelection').BackupSelection
  expect([Resources, IamRoleArn]).toEqual([['<Tables/Keys.Arn>', '<Tables/Usage.Arn>'], '<Backup/Role.Arn>'])
  const { ManagedPolicyArns, ...role } = mailed.at('Backup/Role')
  expect(ManagedPolicyArns).toEqual([expect.stringMatching(/service-role\/AWSBackupServiceRolePolicyForBackup$/)])
  expect(JSON.stringify(role)).toContain('"Service":"backup.amazonaws.com"')
  expect(mailed.at('Backup/Vault').EncryptionKeyArn).toBe('<Backup/Key.Arn>')
  const { KeyPolicy, EnableKeyRotation } = mailed.at('Backup/Key')
  expect(EnableKeyRotation).toBe(true)
  const others = KeyPolicy.Statement.filter(({ Principal }: Json) => JSON.stringify(Principal).includes('999999999999'))
  const granted = others.flatMap(({ Action }: Json) => Action).toSorted()
  expect(granted).toEqual(['kms:CreateGrant', 'kms:Decrypt', 'kms:DescribeKey'])
  for (const path of ['Vault', 'Key'])
    expect(mailed.resources[`Backup/${path}`]).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate' })
})

describe('the outputs', () => {
  const OF_EXPORT = [OUTPUTS.exportBucket, OUTPUTS.exportDatabase]
  /** Outputs of a stack with a domain, with logs of CloudFront in another region, or with notices. */
  const OF_OTHERS = [OUTPUTS.eventBus, OUTPUTS.edgeDomain, OUTPUTS.distributionId, OUTPUTS.rollout]
  const DEV = Object.values(OUTPUTS).filter((name) => ![...OF_EXPORT, ...OF_OTHERS].includes(name as never))
  /** test/infra/on-call.test.ts has those of functions and logs. */
  const namesIn = ({ outputs }: Synthesized) => Object.keys(outputs).filter((name) => !/(Function|Logs)$/.test(name))

  test('they are those that the command line and the operator look for', () => {
    expect(dev.outputs).toMatchObject({
      [OUTPUTS.baseUrl]: 'https://<Edge/Distribution.DomainName>/v1',
      [OUTPUTS.keysTable]: '<Tables/Keys>',
      [OUTPUTS.usageTable]: '<Tables/Usage>',
      [OUTPUTS.answersTable]: '<Tables/Answers>',
    })
    const expected = DEV.filter((name) => name !== OUTPUTS.chatUrl && name !== OUTPUTS.apiUrl)
    expect(namesIn(dev).sort()).toEqual(expected.sort())
  })

  test('without CloudFront they have the addresses of the functions, which one with CloudFront closes and hides', () => {
    const { path } = bare.only('AWS::Lambda::Url')
    expect(bare.outputs).toMatchObject({
      [OUTPUTS.chatUrl]: `<${path}.FunctionUrl>v1`,
      [OUTPUTS.apiUrl]: '<Api/HttpApi.ApiEndpoint>/v1',
    })
    expect(namesIn(bare).sort()).toEqual(DEV.filter((name) => name !== OUTPUTS.baseUrl).sort())
  })
})

describe('the first catalog', () => {
  const seed = dev.only('Custom::WaybillCatalogSeed')
  const call = JSON.parse(seed.Create)

  test('the first catalog is written once, at creation, and never over an existing one', () => {
    expect(seed).not.toHaveProperty('Update')
    expect(seed).not.toHaveProperty('Delete')
    expect(call).toMatchObject({
      service: 'DynamoDB',
      action: 'putItem',
      ignoreErrorCodesMatching: 'ConditionalCheckFailedException',
      parameters: { TableName: '<Tables/Keys>', ConditionExpression: 'attribute_not_exists(pk)' },
    })
  })

  test('the first catalog is valid, and the gateway reads it from the table unchanged', async () => {
    const { Item } = call.parameters
    const { catalog, version, schemaVersion, pushedAt } = unmarshall(Item)
    expect(parseCatalog(catalog)).toEqual({ catalog })
    const tables = await openTestTables()
    await tables.database.control('PutItem', { TableName: tables.keys, Item })
    expect(await readNewCatalog(tables)({ version, pushedAt })).toBe('unchanged')
    expect(schemaVersion).toBe(SCHEMA_VERSION)
    expect(await readStoredCatalog(tables)()).toMatchObject({ data: catalog, version })
    expect(version).toBe(1)
  })
})

test.each(['staging', 'Dev', '', undefined, 'constructor', 'toString'])(
  'the stage name "%s" is refused, and the message lists the stages',
  (name) => expect(() => stageOf(name)).toThrow(`There is no stage '${name}'. There are dev and prod.`),
)
