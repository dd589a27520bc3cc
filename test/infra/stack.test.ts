import { runInNewContext } from 'node:vm'
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { EXPORT_COLUMNS, exportPath } from '../../layers/gateway/domain/rows/export-line.ts'
import { CHAT_PATHS, FUNCTION_NAMES } from '../../layers/gateway/endpoints.ts'
import { EDGE_HEADERS, ENV, OUTPUTS, TABLES } from '../../layers/gateway/names.ts'
import { readConfig } from '../../layers/gateway/platform/config.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { createTableInput } from '../../layers/gateway/store/sdk/create-tables.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { FUNCTIONS, FUNCTIONS_WITH_TABLES } from '../support/functions.ts'
import { openTestTables } from '../support/gateway.ts'
import { NO_STAGES } from './fixtures/no-stages.ts'
import {
  arnOf,
  liveOf,
  only,
  readFacts,
  readManifest,
  type Synthesized,
  synthesized,
  textOf,
} from './support/synthesized.ts'
import { Template } from './support/template.ts'

let dev: Synthesized
let prod: Synthesized
let bare: Synthesized
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  bare = await synthesized('bare')
}, 480_000)

const stages = [
  { name: 'dev', of: () => dev, policy: 'Delete', isProtected: false, retention: 14 },
  { name: 'prod', of: () => prod, policy: 'Retain', isProtected: true, retention: 90 },
]

describe.each(stages)('the tables of $name', ({ name: stage, of, policy, isProtected }) => {
  test.each(['keys', 'usage', 'answers'] as const)(
    `the %s table in ${stage} is on demand, encrypted, kept or deleted as its stage says, and restorable unless it holds answers`,
    (name) => {
      const { template, tables } = of()
      const table = template.findResources('AWS::DynamoDB::GlobalTable')[tables[name]]
      expect(table).toMatchObject({ DeletionPolicy: policy, UpdateReplacePolicy: policy })
      expect(table?.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        TimeToLiveSpecification: { AttributeName: TABLES[name].timeToLive, Enabled: true },
      })
      expect(table?.Properties.Replicas).toEqual([
        expect.objectContaining({
          DeletionProtectionEnabled: isProtected,
          // Answers are kept for a day, and a backup would keep them for 35.
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: name !== 'answers' },
        }),
      ])
    },
  )

  test.each(['keys', 'usage', 'answers'] as const)(
    `the %s table in ${stage} has the keys, indexes and attributes of the local table`,
    (name) => {
      const { template, tables } = of()
      const { Properties } = template.findResources('AWS::DynamoDB::GlobalTable')[tables[name]] ?? {}
      const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes } = createTableInput('x', TABLES[name])
      expect(Properties.KeySchema).toEqual(KeySchema)
      expect(Properties.GlobalSecondaryIndexes).toEqual(GlobalSecondaryIndexes)
      expect(new Set(Properties.AttributeDefinitions)).toEqual(new Set(AttributeDefinitions))
    },
  )

  test(`indexes in ${stage} find keys with open requests by when to sweep them, and all keys by their creation, and copy no other attribute`, () => {
    const { template, tables } = of()
    const { Properties } = template.findResources('AWS::DynamoDB::GlobalTable')[tables.keys] ?? {}
    expect(Properties.GlobalSecondaryIndexes).toEqual([
      {
        IndexName: 'bySweep',
        KeySchema: [
          { AttributeName: 'sk', KeyType: 'HASH' },
          { AttributeName: 'sweepAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
      {
        IndexName: 'byCreation',
        KeySchema: [
          { AttributeName: 'sk', KeyType: 'HASH' },
          { AttributeName: 'createdAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ])
  })

  test(`an index in ${stage} finds usage rows by key and day`, () => {
    const { template, tables } = of()
    const { Properties } = template.findResources('AWS::DynamoDB::GlobalTable')[tables.usage] ?? {}
    expect(Properties.GlobalSecondaryIndexes).toEqual([
      {
        IndexName: 'byKey',
        KeySchema: [
          { AttributeName: 'keyDay', KeyType: 'HASH' },
          { AttributeName: 'startedAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ])
  })
})

describe.each(stages)('the functions of $name', ({ name: stage, of, policy, retention }) => {
  const propertiesOf = (name: (typeof FUNCTIONS)[number]) =>
    of().template.findResources('AWS::Lambda::Function')[of().functions[name]]?.Properties

  test.each(FUNCTIONS)(
    `the %s function in ${stage} runs on Node 24 on arm64; only the tokenizer has a layer`,
    (name) => {
      expect(propertiesOf(name)).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] })
      expect('Layers' in propertiesOf(name)).toBe(name === 'tokenizer')
    },
  )

  test.each(FUNCTIONS_WITH_TABLES)(`the %s function in ${stage} knows its tables and its stage`, (name) => {
    const { tables } = of()
    expect(propertiesOf(name).Environment.Variables).toMatchObject({
      [ENV.keysTable]: { Ref: tables.keys },
      [ENV.usageTable]: { Ref: tables.usage },
      [ENV.answersTable]: { Ref: tables.answers },
      [ENV.stage]: of() === prod ? 'prod' : 'dev',
    })
  })

  test(`every function in ${stage} has a log group of its own, which deletes old entries`, () => {
    const logs = FUNCTIONS.map((name) => propertiesOf(name).LoggingConfig.LogGroup.Ref)
    expect(new Set(logs).size).toBe(FUNCTIONS.length)
    const groups = of().template.findResources('AWS::Logs::LogGroup')
    for (const id of logs) {
      expect(groups[id]).toMatchObject({ DeletionPolicy: policy, Properties: { RetentionInDays: retention } })
    }
    for (const group of Object.values(groups)) expect(group.Properties.RetentionInDays).toBe(retention)
  })

  test(`the chat function in ${stage} may take fifteen minutes, and only it and the api, for quotes, know the tokenizer function`, () => {
    expect(propertiesOf('chat').Timeout).toBe(900)
    const variableOf = (name: (typeof FUNCTIONS)[number]) =>
      propertiesOf(name).Environment.Variables[ENV.tokenizerFunction]
    expect(FUNCTIONS_WITH_TABLES.filter(variableOf)).toEqual(['chat', 'api'])
    for (const name of ['chat', 'api'] as const) expect(variableOf(name)).toEqual({ Ref: of().functions.tokenizer })
  })

  test(`the tokenizer function in ${stage} knows nothing, and has a whole core and ten seconds`, () => {
    expect(propertiesOf('tokenizer')).toMatchObject({ MemorySize: 1_769, Timeout: 10 })
    expect(propertiesOf('tokenizer')).not.toHaveProperty('Environment')
  })

  test(`only the chat function in ${stage} has a Function URL, which streams and leaves the key check to it`, () => {
    const { properties, resource } = only(of().template, 'AWS::Lambda::Url')
    expect(resource.DependsOn).toEqual([liveOf(of(), 'chat')])
    expect(properties).toEqual({
      TargetFunctionArn: arnOf(of().functions.chat),
      Qualifier: 'live',
      AuthType: 'NONE',
      InvokeMode: 'RESPONSE_STREAM',
    })
  })

  test(`the sweep in ${stage} starts every five minutes, and has ended before the next one starts`, () => {
    expect(scheduleOf('sweep')).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', State: 'ENABLED' })
    expect(propertiesOf('sweep').Timeout).toBeLessThan(300)
  })

  test(`the function that closes days in ${stage} starts every 20 minutes, and has ended before the next one starts`, () => {
    expect(scheduleOf('close')).toMatchObject({ ScheduleExpression: 'rate(20 minutes)', State: 'ENABLED' })
    expect(propertiesOf('close').Timeout).toBeLessThan(1_200)
  })

  test.each([
    ['sweep', 300],
    ['close', 1_200],
  ] as const)(
    `a run of %s in ${stage} that fails is tried again neither by the scheduler nor by Lambda, but by the next one`,
    (name, everySeconds) => {
      expect(scheduleOf(name)?.Target.RetryPolicy.MaximumRetryAttempts).toBe(0)
      const queues = Object.values(of().template.findResources('AWS::Lambda::EventInvokeConfig'))
      const { Qualifier, ...queue } = queues
        .map(({ Properties }) => Properties)
        .find(({ FunctionName }) => FunctionName.Ref === of().functions[name])
      expect(queue).toEqual({
        FunctionName: { Ref: of().functions[name] },
        MaximumRetryAttempts: 0,
        // Lambda does not start one that has waited until the next.
        MaximumEventAgeInSeconds: everySeconds,
      })
      // The qualifier is the last part of the alias's ARN.
      expect(Qualifier).toEqual({ 'Fn::Select': [7, { 'Fn::Split': [':', { Ref: liveOf(of(), name) }] }] })
    },
  )

  const scheduleOf = (name: 'sweep' | 'close') =>
    Object.values(of().template.findResources('AWS::Scheduler::Schedule'))
      .map(({ Properties }) => Properties)
      .find(({ Target }) => Target.Arn.Ref === liveOf(of(), name))
})

const reservedIn = ({ template, functions }: Synthesized) =>
  FUNCTIONS.flatMap((name) => {
    const { ReservedConcurrentExecutions: most } =
      template.findResources('AWS::Lambda::Function')[functions[name]]?.Properties ?? {}
    return most === undefined ? [] : [{ name, most: Number(most) }]
  })

test('no function in dev has executions reserved, which a new account with a quota of 10 would refuse', () => {
  expect(reservedIn(dev)).toEqual([])
})

test('in prod the streams of chat cannot take the executions of the sweep, the HTTP API or the tokenizer', () => {
  const reserved = reservedIn(prod)
  expect(reserved.map(({ name }) => name)).toEqual(['chat', 'sweep', 'close'])
  // Lambda refuses to reserve the last 100 of an account's quota, which is 1,000.
  const all = Object.values(prod.template.findResources('AWS::Lambda::Function'))
  const sum = all.reduce((before, { Properties }) => before + (Properties.ReservedConcurrentExecutions ?? 0), 0)
  expect(sum).toBeLessThanOrEqual(900)
  expect(readDocument('docs/deploy.md')).toContain(`needs a quota of at least ${sum + 100}`)
})

test.each(stages)(
  'the stack of $name is protected from its deletion as its tables are',
  async ({ name, isProtected }) => {
    const { terminationProtection } = await readManifest(name as 'dev' | 'prod')
    expect(terminationProtection ?? false).toBe(isProtected)
  },
)

test.each(stages)(
  'whatever the stack of $name costs can be told from the rest of the bill by a tag',
  async ({ name }) => {
    expect(await readManifest(name as 'dev' | 'prod')).toMatchObject({ tags: { 'waybill:stage': name } })
  },
)

test('the HTTP API hands every call to the api function', () => {
  const { id, properties } = only(dev.template, 'AWS::ApiGatewayV2::Integration')
  expect(properties).toMatchObject({
    IntegrationType: 'AWS_PROXY',
    PayloadFormatVersion: '2.0',
    IntegrationUri: { Ref: liveOf(dev, 'api') },
  })
  const route = only(dev.template, 'AWS::ApiGatewayV2::Route').properties
  expect([route.RouteKey, textOf(route.Target)]).toEqual(['$default', `integrations/<${id}>`])
})

test.each(stages)(
  'browsers in $name are answered by the functions alone: nothing in front of them has headers of its own for that',
  ({ of }) => {
    const { template } = of()
    expect(only(template, 'AWS::Lambda::Url').properties).not.toHaveProperty('Cors')
    expect(only(template, 'AWS::ApiGatewayV2::Api').properties).not.toHaveProperty('CorsConfiguration')
    const { DefaultCacheBehavior, CacheBehaviors } = only(template, 'AWS::CloudFront::Distribution').properties
      .DistributionConfig
    for (const behaviour of [DefaultCacheBehavior, ...CacheBehaviors]) {
      expect(behaviour.AllowedMethods).toContain('OPTIONS')
      expect(behaviour).not.toHaveProperty('ResponseHeadersPolicyId')
    }
  },
)

test('the HTTP API is throttled as a whole', () => {
  expect(only(dev.template, 'AWS::ApiGatewayV2::Stage').properties).toMatchObject({
    StageName: '$default',
    AutoDeploy: true,
    DefaultRouteSettings: { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 500 },
  })
})

test('the HTTP API logs no header, query or path, in which a key may have been sent by mistake', () => {
  const { AccessLogSettings } = only(dev.template, 'AWS::ApiGatewayV2::Stage').properties
  const variables = Object.values<string>(JSON.parse(AccessLogSettings.Format))
  expect(variables).toEqual(
    expect.arrayContaining(['$context.requestId', '$context.status', '$context.identity.sourceIp']),
  )
  for (const variable of variables) {
    expect(variable).toMatch(/^\$context\.[A-Za-z.]+$/)
    expect(variable).not.toMatch(/header|query|path|param|body|authorizer|domain/i)
  }
  const groups = Object.keys(dev.template.findResources('AWS::Logs::LogGroup'))
  expect(groups.map(arnOf)).toContainEqual(AccessLogSettings.DestinationArn)
})

describe('CloudFront', () => {
  const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'
  const ALL_VIEWER_EXCEPT_HOST_HEADER = 'b689b0a8-53d0-40ab-baf2-68738e2966ac'
  const config = () => only(dev.template, 'AWS::CloudFront::Distribution').properties.DistributionConfig
  const hostOf = (id: string, attribute: string) => ({
    'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::GetAtt': [id, attribute] }] }],
  })
  const originOf = (behaviour: { TargetOriginId: string }) =>
    config().Origins.find(({ Id }: { Id: string }) => Id === behaviour.TargetOriginId)

  test('CloudFront sends chat to its Function URL and everything else to the API', () => {
    const { DefaultCacheBehavior, CacheBehaviors } = config()
    expect(CacheBehaviors.map(({ PathPattern }: { PathPattern: string }) => PathPattern)).toEqual(
      CHAT_PATHS.map((start) => `${start}*`),
    )
    for (const behaviour of CacheBehaviors) {
      expect(originOf(behaviour).DomainName).toEqual(hostOf(only(dev.template, 'AWS::Lambda::Url').id, 'FunctionUrl'))
    }
    expect(originOf(DefaultCacheBehavior).DomainName).toEqual(
      hostOf(only(dev.template, 'AWS::ApiGatewayV2::Api').id, 'ApiEndpoint'),
    )
  })

  test('CloudFront caches and compresses nothing, takes every method, and passes on every header but Host', () => {
    const { id } = only(dev.template, 'AWS::CloudFront::Function')
    for (const behaviour of [config().DefaultCacheBehavior, ...config().CacheBehaviors]) {
      expect(behaviour).toMatchObject({
        CachePolicyId: CACHING_DISABLED,
        OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST_HEADER,
        ViewerProtocolPolicy: 'https-only',
        Compress: false,
        FunctionAssociations: [{ EventType: 'viewer-request', FunctionARN: { 'Fn::GetAtt': [id, 'FunctionARN'] } }],
      })
      expect(behaviour.AllowedMethods.toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
    }
  })

  test('CloudFront takes IPv6 unless its stage switches it off, and the outputs say which', async () => {
    const without = new Template((await readFacts()).withoutIpv6)
    for (const [template, ipv6] of [
      [dev.template, true],
      [without, false],
    ] as const) {
      const { DistributionConfig } = only(template, 'AWS::CloudFront::Distribution').properties
      expect(DistributionConfig.IPV6Enabled).toBe(ipv6)
      expect(template.json.Outputs[OUTPUTS.ipv6].Value).toBe(String(ipv6))
    }
    expect(bare.template.json.Outputs[OUTPUTS.ipv6].Value).toBe('true')
  })

  test('CloudFront waits longer for chat than the fifteen seconds between two keep-alives', () => {
    const { OriginReadTimeout, OriginProtocolPolicy } = originOf(config().CacheBehaviors[0]).CustomOriginConfig
    expect(OriginReadTimeout).toBe(120)
    expect(OriginProtocolPolicy).toBe('https-only')
  })

  test.each([
    ['no address', {}],
    ['an address of its own choosing', { [EDGE_HEADERS.viewer]: { value: '10.0.0.1' } }],
    [
      'two addresses',
      { [EDGE_HEADERS.viewer]: { value: '10.0.0.1', multiValue: [{ value: '10.0.0.1' }, { value: '10.0.0.2' }] } },
    ],
  ])('CloudFront passes on the caller’s true address if the caller sent %s', (_, sent) => {
    const { FunctionCode, FunctionConfig } = only(dev.template, 'AWS::CloudFront::Function').properties
    const event = {
      viewer: { ip: '203.0.113.9' },
      request: { method: 'POST', uri: '/v1/chat/completions', headers: { host: { value: 'x' }, ...sent } },
    }
    const request = runInNewContext(`${FunctionCode};handler(event)`, { event })
    expect(JSON.parse(JSON.stringify(request))).toEqual({
      method: 'POST',
      uri: '/v1/chat/completions',
      headers: { host: { value: 'x' }, [EDGE_HEADERS.viewer]: { value: '203.0.113.9' } },
    })
    expect(FunctionConfig.Runtime).toBe('cloudfront-js-2.0')
  })

  test.each(stages)(
    'CloudFront in $name identifies itself with a secret that AWS makes and that no template shows',
    ({ of }) => {
      const { template, functions } = of()
      const secrets = Object.entries(template.findResources('AWS::SecretsManager::Secret'))
      for (const [, { Properties }] of secrets) {
        expect(Properties).toMatchObject({ GenerateSecretString: { PasswordLength: 48, ExcludePunctuation: true } })
        expect(Properties).not.toHaveProperty('SecretString')
      }
      const [first, next, ...more] = secrets.map(([id]) => `{{resolve:secretsmanager:<${id}>:SecretString:::}}`)
      expect(more).toEqual([])
      const { Origins } = only(template, 'AWS::CloudFront::Distribution').properties.DistributionConfig
      expect(Origins).toHaveLength(2)
      for (const { OriginCustomHeaders } of Origins) {
        expect(OriginCustomHeaders.map(({ HeaderName }: { HeaderName: string }) => HeaderName)).toEqual([
          EDGE_HEADERS.origin,
        ])
        expect(textOf(OriginCustomHeaders[0].HeaderValue)).toBe(first)
      }
      const made = template.findResources('AWS::Lambda::Function')
      const accepted = FUNCTIONS.map((name) => [
        name,
        made[functions[name]]?.Properties.Environment?.Variables[ENV.originSecrets],
      ])
      const called: readonly string[] = FUNCTION_NAMES
      for (const [name, variable] of accepted) {
        if (called.includes(name)) expect(textOf(variable)).toBe(`${first},${next}`)
        else expect(variable).toBeUndefined()
      }
      for (const [id] of secrets) {
        const everywhere = JSON.stringify(template.json).split(`{"Ref":"${id}"}`)
        for (const before of everywhere.slice(0, -1)) expect(before).toMatch(/\{\{resolve:secretsmanager:",$/)
      }
    },
  )

  test('a raised number makes another secret the one that CloudFront sends, and keeps the former one and the next one accepted', async () => {
    const { originSecrets } = await readFacts()
    const [first, second, third] = originSecrets.map(({ sent, accepted }) => ({
      sent: textOf(sent),
      accepted: textOf(accepted).split(','),
    }))
    expect(first?.accepted).toEqual([first?.sent, second?.sent])
    expect(second?.accepted).toEqual([first?.sent, second?.sent, third?.sent])
    expect(third?.accepted).toEqual([second?.sent, third?.sent, expect.stringMatching(/<OriginSecret4/)])
    expect(new Set([first, second, third].map((it) => it?.sent)).size).toBe(3)
  })

  test.each(stages)('CloudFront in $name waits longer for a whole answer than chat does', ({ of }) => {
    const { template, functions } = of()
    const { Origins } = only(template, 'AWS::CloudFront::Distribution').properties.DistributionConfig
    const timeoutSeconds = Math.max(
      ...Origins.map(({ CustomOriginConfig }: { CustomOriginConfig: { OriginReadTimeout?: number } }) =>
        Number(CustomOriginConfig.OriginReadTimeout ?? 0),
      ),
    )
    const { Variables } = template.findResources('AWS::Lambda::Function')[functions.chat]?.Properties.Environment ?? {}
    expect(Number(Variables[ENV.wholeAnswerMs])).toBeGreaterThanOrEqual(60_000)
    expect(Number(Variables[ENV.wholeAnswerMs])).toBeLessThanOrEqual(timeoutSeconds * 1000 - 10_000)
  })

  test('a stack without CloudFront has no distribution, no secret and no base URL', () => {
    for (const type of ['AWS::CloudFront::Distribution', 'AWS::CloudFront::Function', 'AWS::SecretsManager::Secret']) {
      expect(bare.template.findResources(type)).toEqual({})
    }
    const unwanted = `resolve:secretsmanager|${ENV.originSecrets}|${ENV.wholeAnswerMs}`
    expect(JSON.stringify(bare.template.json)).not.toMatch(new RegExp(unwanted))
    expect(bare.template.json.Outputs).not.toHaveProperty(OUTPUTS.baseUrl)
  })
})

const OF_EXPORT = [OUTPUTS.exportBucket, OUTPUTS.exportDatabase]

test('a stage that exports closed days has a private bucket that outlives it, and a table of the exported columns by day', () => {
  const id = prod.template.json.Outputs[OUTPUTS.exportBucket].Value.Ref
  const { Properties: properties, DeletionPolicy } = prod.template.findResources('AWS::S3::Bucket')[id] ?? {}
  expect(DeletionPolicy).toBe('Retain')
  expect(properties).toMatchObject({
    PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
    BucketEncryption: { ServerSideEncryptionConfiguration: [{}] },
    VersioningConfiguration: { Status: 'Enabled' },
  })
  expect(properties).not.toHaveProperty('BucketName')
  const { TableInput, DatabaseName } = only(prod.template, 'AWS::Glue::Table').properties
  expect(TableInput.StorageDescriptor.Columns).toEqual(
    EXPORT_COLUMNS.map(({ name, type }) => ({ Name: name, Type: type })),
  )
  // The folder of a day, as a run writes it.
  const [folder] = exportPath('2026-11-14', 0).split('2026-11-14')
  const template = textOf(TableInput.Parameters['storage.location.template'])
  expect(template).toBe(`s3://<${id}>/${folder}\${dt}/`)
  expect(TableInput).toMatchObject({ PartitionKeys: [{ Name: 'dt', Type: 'string' }], Name: 'usage' })
  expect(DatabaseName).toBe('waybill_prod')
  const close = prod.template.findResources('AWS::Lambda::Function')[prod.functions.close]
  expect(close?.Properties.Environment.Variables[ENV.exportBucket]).toEqual({ Ref: id })
  expect(close?.Properties.MemorySize).toBe(3_538)
  expect(dev.template.findResources('AWS::S3::Bucket')).toEqual({})
})

test('every function that writes rows knows for how long its stage keeps them, where it does not keep them for good', async () => {
  const { template, functions } = await synthesized('mailed')
  const keptBy = (of: Synthesized, name: (typeof FUNCTIONS_WITH_TABLES)[number]) =>
    of.template.findResources('AWS::Lambda::Function')[of.functions[name]]?.Properties.Environment.Variables[
      ENV.keepRowsDays
    ]
  for (const name of FUNCTIONS_WITH_TABLES) {
    expect([name, keptBy({ ...prod, template, functions }, name), keptBy(prod, name)]).toEqual([name, '400', undefined])
  }
})

test('chat is told to keep no users and tags where the stage keeps none, and obeys', async () => {
  const { template, functions } = await synthesized('mailed')
  const told = (of: Pick<Synthesized, 'template' | 'functions'>) =>
    of.template.findResources('AWS::Lambda::Function')[of.functions.chat]?.Properties.Environment.Variables[
      ENV.attribution
    ]
  expect([told({ template, functions }), told(prod)]).toEqual(['false', 'true'])
  const names = { [ENV.keysTable]: 'k', [ENV.usageTable]: 'u', [ENV.answersTable]: 'a' }
  expect(readConfig({ ...names, [ENV.attribution]: 'false' }).isUnattributed).toBe(true)
  expect(readConfig(names).isUnattributed).toBe(false)
})

test('the outputs of the stack are those that the command line and the operator look for', () => {
  const { template, tables } = dev
  const distribution = only(template, 'AWS::CloudFront::Distribution').id
  expect(textOf(template.json.Outputs[OUTPUTS.baseUrl].Value)).toBe(`https://<${distribution}.DomainName>/v1`)
  expect(template.json.Outputs[OUTPUTS.keysTable]).toMatchObject({ Value: { Ref: tables.keys } })
  expect(template.json.Outputs[OUTPUTS.usageTable]).toMatchObject({ Value: { Ref: tables.usage } })
  expect(template.json.Outputs[OUTPUTS.answersTable]).toMatchObject({ Value: { Ref: tables.answers } })
  expect(outputsOf(template).sort()).toEqual(
    outputsWithout(OUTPUTS.chatUrl, OUTPUTS.apiUrl, ...OF_OTHERS, ...OF_EXPORT),
  )
})

test('a stack without CloudFront has the addresses of the functions as outputs, which one with CloudFront closes and hides', () => {
  const { template } = bare
  const [url, api] = [only(template, 'AWS::Lambda::Url').id, only(template, 'AWS::ApiGatewayV2::Api').id]
  expect(textOf(template.json.Outputs[OUTPUTS.chatUrl].Value)).toBe(`<${url}.FunctionUrl>v1`)
  expect(textOf(template.json.Outputs[OUTPUTS.apiUrl].Value)).toBe(`<${api}.ApiEndpoint>/v1`)
  expect(outputsOf(template).sort()).toEqual(outputsWithout(OUTPUTS.baseUrl, ...OF_OTHERS, ...OF_EXPORT))
})

/** Of a stack with a domain, with logs of CloudFront in another region, or with notices. */
const OF_OTHERS = [OUTPUTS.eventBus, OUTPUTS.edgeDomain, OUTPUTS.distributionId, OUTPUTS.rollout]
/** test/infra/on-call.test.ts has the outputs of functions and logs. */
const outputsOf = ({ json }: Template) => Object.keys(json.Outputs).filter((name) => !/(Function|Logs)$/.test(name))

function outputsWithout(...names: string[]): string[] {
  return Object.values(OUTPUTS)
    .filter((name) => !names.includes(name))
    .sort()
}

test.each(stages)('the stack of $name says whether its operator is asked before a change', ({ of, isProtected }) => {
  expect(of().template.json.Outputs[OUTPUTS.protected]).toMatchObject({ Value: String(isProtected) })
})

describe('the first catalog', () => {
  const seed = () => only(dev.template, 'Custom::WaybillCatalogSeed').properties
  const call = () => JSON.parse(textOf(seed().Create))

  test('the first catalog is written once, at creation, and never over an existing one', () => {
    expect(seed()).not.toHaveProperty('Update')
    expect(seed()).not.toHaveProperty('Delete')
    expect(call()).toMatchObject({
      service: 'DynamoDB',
      action: 'putItem',
      ignoreErrorCodesMatching: 'ConditionalCheckFailedException',
      parameters: { TableName: `<${dev.tables.keys}>`, ConditionExpression: 'attribute_not_exists(pk)' },
    })
  })

  test('the first catalog is valid, and the gateway reads it from the table unchanged', async () => {
    const { Item } = call().parameters
    const { catalog, version } = unmarshall(Item)
    expect(parseCatalog(catalog)).toEqual({ catalog })
    const tables = await openTestTables()
    await tables.client.send(new PutItemCommand({ TableName: tables.keys, Item }))
    expect(await readStoredCatalog(tables)()).toMatchObject({ data: catalog, version })
    expect(version).toBe(1)
    tables.client.destroy()
  })
})

test.each(NO_STAGES.map((name, index) => ({ name, index })))(
  'the stage name "$name" is refused, and the message lists the stages',
  async ({ name, index }) => {
    const { refusedStages } = await readFacts()
    expect(refusedStages[index]).toBe(`There is no stage '${name}'. There are dev and prod.`)
  },
)
