import { describe, expect, test } from '@jest/globals'
import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { ABROAD, OWN_CERTIFICATE } from './fixtures/domains.ts'
import { readBeside, readFacts, readManifest, readOrder, Synthesized, synthesized } from './support/synthesized.ts'
import type { Json } from './support/template.ts'

const dev = await synthesized('dev')
const prod = await synthesized('prod')
/** Prod in Ireland, with a domain, and a firewall that blocks. */
const abroad = await synthesized('mailed')
const firewallAbroad = await readBeside('mailed', 'firewall-eu-west-1')
const certificateAbroad = await readBeside('mailed', 'certificate-eu-west-1')
const logsAbroad = await readBeside('mailed', 'edge-logs-eu-west-1')
/** With an own certificate, and without IPv6. */
const facts = await readFacts()
const certified = new Synthesized(facts.withoutIpv6)

const configOf = (stack: Synthesized) => stack.only('AWS::CloudFront::Distribution').DistributionConfig
/** The ARN of a part in us-east-1. */
const partOf = (part: string) => `<Arn of Waybill-prod-${part}-eu-west-1 in us-east-1>`

describe('the stacks', () => {
  test('dev and prod are one stack each in us-east-1, and dev, which has no firewall, certificate, bucket or trail, in every region', async () => {
    // It is dev in Ireland, with an acknowledgement missing.
    expect(await readOrder('forgetful')).toEqual({ 'Waybill-dev unknown-region': [] })
    expect(await readOrder('dev')).toEqual({ 'Waybill-dev unknown-region': [] })
    expect(await readOrder('prod')).toEqual({ 'Waybill-prod unknown-region': [] })
    const types = Object.values(dev.resources).map(({ Type }) => Type)
    expect(types.filter((type) => /WAFv2|CertificateManager|S3|CloudTrail|Route53|Delivery/.test(type))).toEqual([])
  })

  test('what CloudFront takes from us-east-1 only is there also if the stage is in another region, and is there first', async () => {
    const part = (name: string) => `Waybill-prod-${name}-eu-west-1`
    expect(await readOrder('mailed')).toEqual({
      [`${part('certificate')} us-east-1`]: [],
      [`${part('firewall')} us-east-1`]: [],
      'Waybill-prod unknown-region': [part('certificate'), part('firewall')],
      [`${part('edge-logs')} us-east-1`]: ['Waybill-prod'],
      [`${part('edge-alarms')} us-east-1`]: ['Waybill-prod'],
    })
    const types = Object.values(abroad.resources).map(({ Type }) => Type)
    expect(types.filter((type) => /WAFv2|CertificateManager|Delivery/.test(type))).toEqual([])
  })
})

describe('the domain', () => {
  test('a stage with a domain answers to it, and its base URL is the domain', () => {
    expect(configOf(abroad).Aliases).toEqual([ABROAD.domain.name])
    expect(abroad.outputs[OUTPUTS.baseUrl]).toBe('https://api.example.com/v1')
    expect(abroad.outputs[OUTPUTS.edgeDomain]).toBe('<Edge/Distribution.DomainName>')
  })

  test('a domain is served with TLS 1.2 or newer only', () => {
    for (const stack of [abroad, certified]) {
      expect(configOf(stack).ViewerCertificate).toMatchObject({
        MinimumProtocolVersion: 'TLSv1.2_2021',
        SslSupportMethod: 'sni-only',
      })
    }
  })

  test('a certificate is made in the zone of the domain, and outlives its replacement, while CloudFront has it still', () => {
    expect(certificateAbroad.resources.Certificate).toMatchObject({
      Type: 'AWS::CertificateManager::Certificate',
      Properties: {
        DomainName: ABROAD.domain.name,
        ValidationMethod: 'DNS',
        DomainValidationOptions: [{ HostedZoneId: ABROAD.domain.hostedZone.id }],
      },
      UpdateReplacePolicy: 'Retain',
      DeletionPolicy: 'Delete',
    })
    expect(certificateAbroad.outputs.Arn).toBe('<Certificate>')
    expect(configOf(abroad).ViewerCertificate.AcmCertificateArn).toBe(partOf('certificate'))
  })

  test('an operator’s own certificate is used as it is, and none is made', () => {
    expect(configOf(certified).ViewerCertificate.AcmCertificateArn).toBe(OWN_CERTIFICATE.certificateArn)
    expect(certified.of('AWS::CertificateManager::Certificate')).toEqual({})
  })

  test('the domain’s records lead to CloudFront, over IPv6 only where CloudFront takes it', () => {
    const recordsOf = (stack: Synthesized) =>
      Object.values(stack.of('AWS::Route53::RecordSet')).map(({ Type, Name, HostedZoneId, AliasTarget }) => {
        const { path } = stack.only('AWS::CloudFront::Distribution')
        expect([HostedZoneId, AliasTarget.DNSName]).toEqual([ABROAD.domain.hostedZone.id, `<${path}.DomainName>`])
        return `${Type} ${Name}`
      })
    expect(recordsOf(abroad)).toEqual(['A api.example.com.', 'AAAA api.example.com.'])
    expect(recordsOf(certified)).toEqual(['A dev.example.com.'])
    expect(recordsOf(prod)).toEqual([])
  })
})

test('CloudFront has the firewall in prod, and none in dev', () => {
  expect(configOf(prod).WebACLId).toBe('<Firewall/WebAcl.Arn>')
  expect(configOf(abroad).WebACLId).toBe(partOf('firewall'))
  expect(configOf(dev)).not.toHaveProperty('WebACLId')
})

describe.each([
  { name: 'prod', stack: prod, most: 100_000, override: { Count: {} } },
  { name: 'a stage that blocks', stack: firewallAbroad, most: 200_000, override: { None: {} } },
])('the firewall of $name', ({ stack, most, override }) => {
  const firewall = stack.at('Firewall/WebAcl')
  const [limit, common] = firewall.Rules
  const logging = stack.at('Firewall/Logging')

  test('limits each address by itself, with a 429 that an SDK can read and that says when to come back', () => {
    expect(limit.Statement).toEqual({
      RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: most },
    })
    const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = limit.Action.Block.CustomResponse
    const { status, type, code } = new GatewayError('rate_limit_exceeded', '')
    expect(ResponseCode).toBe(status)
    expect(ResponseHeaders).toEqual([{ Name: 'Retry-After', Value: '60' }])
    const { Content, ContentType } = firewall.CustomResponseBodies[CustomResponseBodyKey]
    expect(ContentType).toBe('APPLICATION_JSON')
    const message = expect.stringContaining('your address')
    expect(JSON.parse(Content)).toEqual({ error: { message, type, code, param: null } })
  })

  test('has common rules that count or block as the settings say, and block no prompt for its length or for what it is about', () => {
    expect(common).toMatchObject({
      OverrideAction: override,
      Statement: { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesCommonRuleSet' } },
    })
    const { RuleActionOverrides } = common.Statement.ManagedRuleGroupStatement
    // Those of the group that look into a body, by docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
    const names = ['CrossSiteScripting', 'EC2MetaDataSSRF', 'GenericLFI', 'GenericRFI', 'SizeRestrictions']
    expect(RuleActionOverrides.map(({ Name }: Json) => Name).toSorted()).toEqual(names.map((name) => `${name}_BODY`))
    for (const { ActionToUse } of RuleActionOverrides) expect(ActionToUse).toEqual({ Count: {} })
  })

  test('is measured, and records no header, query, path or piece of a body', () => {
    const visible = [firewall, ...firewall.Rules].map(({ VisibilityConfig }) => VisibilityConfig)
    for (const config of visible) {
      expect(config).toMatchObject({ CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false })
    }
    expect(new Set(visible.map(({ MetricName }) => MetricName)).size).toBe(3)
    // Without names of its own, a field stands for all of its kind.
    const withheld = ['BODY', 'QUERY_STRING', 'SINGLE_COOKIE', 'SINGLE_HEADER', 'SINGLE_QUERY_ARGUMENT']
    const { DataProtections } = firewall.DataProtectionConfig
    expect(DataProtections).toHaveLength(withheld.length)
    expect(DataProtections).toEqual(
      expect.arrayContaining(withheld.map((FieldType) => ({ Action: 'SUBSTITUTION', Field: { FieldType } }))),
    )
    expect(logging.ResourceArn).toBe('<Firewall/WebAcl.Arn>')
    expect(logging.RedactedFields).toEqual([{ UriPath: {} }, { QueryString: {} }])
    expect(logging.LoggingFilter).toMatchObject({ DefaultBehavior: 'DROP', Filters: [{ Behavior: 'KEEP' }] })
  })

  test('logs into a group whose name WAF takes, without the end that it refuses, and which the next stack can adopt', () => {
    expect(logging.LogDestinationConfigs).toEqual([expect.stringMatching(/:log-group:<Firewall\/Logs>$/)])
    expect(stack.resources['Firewall/Logs']).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { LogGroupName: expect.stringMatching(/^aws-waf-logs-Waybill-prod/), RetentionInDays: 90 },
    })
  })
})

test.each([
  ['as 500 places for chats', prod, 500],
  ['as all places for chats', firewallAbroad, ABROAD.chatConcurrency],
])('one address may send as much %s can serve, if each is free again after 1.5 seconds', (_, stack, places) => {
  const { Limit, EvaluationWindowSec } = stack.at('Firewall/WebAcl').Rules[0].Statement.RateBasedStatement
  expect(Limit).toBeGreaterThanOrEqual(Math.floor((places / 1.5) * EvaluationWindowSec))
})

test('a stage of another region keeps no client’s address in us-east-1, unless its settings say so', () => {
  const parts = Object.entries(facts.abroad).filter(([name]) => name !== 'Waybill-prod')
  expect(parts.map(([name]) => name).toSorted()).toEqual([
    'Waybill-prod-edge-alarms-eu-west-1',
    'Waybill-prod-firewall-eu-west-1',
  ])
  const types = parts.flatMap(([, template]) => Object.values(new Synthesized(template).resources)).map((it) => it.Type)
  expect(types.filter((type) => /LogGroup|LoggingConfiguration|Delivery|Bucket/.test(type))).toEqual([])
})

test.each([
  ['prod', prod, 'Waybill-prod-edge', '<Edge/Distribution>'],
  [
    'a stage in another region',
    logsAbroad,
    'Waybill-prod-edge-logs-eu-west-1-edge',
    '<DistributionId of Waybill-prod in eu-west-1>',
  ],
])(
  'CloudFront’s logs of %s are of its distribution, have no header, query or path, and only their delivery may write them',
  (_, stack, name, distribution) => {
    const { RecordFields } = stack.at('EdgeLogs/Delivery')
    expect(RecordFields).toEqual(expect.arrayContaining(['c-ip', 'sc-status', 'time-taken', 'x-edge-request-id']))
    const documented = readDocument('docs/deploy.md')
    for (const field of RecordFields) {
      expect(field).not.toMatch(/cs\(|header|host|uri|query|cookie|referer|agent|forwarded/i)
      expect(documented).toContain(`\`${field}\``)
    }
    const { LogType, ResourceArn } = stack.at('EdgeLogs/Source')
    expect([LogType, ResourceArn.split('/').slice(1).join('/')]).toEqual(['ACCESS_LOGS', distribution])
    expect(stack.at('EdgeLogs/Destination').DestinationResourceArn).toBe('<EdgeLogs/Bucket.Arn>')
    const [allowed, ...more] = allowedOn(stack, 'EdgeLogs/Bucket')
    expect(more).toEqual([])
    expect(allowed).toMatchObject({ Action: 's3:PutObject', Principal: { Service: 'delivery.logs.amazonaws.com' } })
    expect(allowed.Condition.StringEquals['aws:SourceAccount']).toBe('<AWS::AccountId>')
    expect(allowed.Condition.ArnLike['aws:SourceArn']).toMatch(new RegExp(`:delivery-source:${name}$`))
    expectPrivate(stack, 'EdgeLogs/Bucket', 90)
  },
)

describe('the trail of the keys', () => {
  const trail = prod.at('KeysTrail/Trail')
  const [ofKeys, ofItself, ...others] = trail.AdvancedEventSelectors.map(({ FieldSelectors }: Json) =>
    Object.fromEntries(FieldSelectors.map(({ Field, ...is }: Json) => [Field, is])),
  )
  const dataOf = (type: string) => ({ eventCategory: { Equals: ['Data'] }, 'resources.type': { Equals: [type] } })

  test('CloudTrail records whoever touches the table of keys, the admin function and the probe among them, but the functions of callers, which would cost more than their writes', () => {
    const { 'userIdentity.arn': who, ...what } = ofKeys
    expect(what).toEqual({
      ...dataOf('AWS::DynamoDB::Table'),
      'resources.ARN': { Equals: ['<Tables/Keys.Arn>'] },
    })
    // Nobody but Lambda can take such a role, and so hide behind it: test/infra/permissions.test.ts.
    const sessions = ['Chat', 'Api', 'Sweep', 'Close'].map(
      (name) => `arn:<AWS::Partition>:sts::<AWS::AccountId>:assumed-role/<Functions/${name}Role>/`,
    )
    expect(who.NotStartsWith.toSorted()).toEqual(sessions.toSorted())
    const selectors = JSON.stringify(abroad.at('KeysTrail/Trail').AdvancedEventSelectors)
    expect(selectors).toContain('Functions/ChatRole')
    expect(selectors).not.toMatch(/Functions\/(Admin|Probe|Tokenizer)Role/)
  })

  test('the trail records who reads or deletes its own records, and never what CloudTrail writes', () => {
    expect(ofItself).toEqual({
      ...dataOf('AWS::S3::Object'),
      'resources.ARN': { StartsWith: ['<KeysTrail/Bucket.Arn>/'] },
      eventName: { NotEquals: ['PutObject'] },
    })
    expect(others).toEqual([])
  })

  test('the trail’s records can be checked for changes, are kept for a year, and only CloudTrail may write them', () => {
    expect(trail).toMatchObject({
      IsLogging: true,
      EnableLogFileValidation: true,
      IsMultiRegionTrail: false,
      TrailName: 'Waybill-prod-keys',
      S3BucketName: '<KeysTrail/Bucket>',
    })
    const allowed = allowedOn(prod, 'KeysTrail/Bucket')
    expect(allowed.map(({ Action }) => Action)).toEqual(['s3:GetBucketAcl', 's3:PutObject'])
    for (const { Principal, Condition } of allowed) {
      expect(Principal).toEqual({ Service: 'cloudtrail.amazonaws.com' })
      expect(Condition.StringEquals['aws:SourceArn']).toMatch(/:trail\/Waybill-prod-keys$/)
    }
    expectPrivate(prod, 'KeysTrail/Bucket', 365)
  })
})

const statementsOn = (stack: Synthesized, bucket: string): Json[] =>
  stack.at(`${bucket}/Policy`).PolicyDocument.Statement
const allowedOn = (stack: Synthesized, bucket: string) =>
  statementsOn(stack, bucket).filter(({ Effect }) => Effect === 'Allow')

function expectPrivate(stack: Synthesized, bucket: string, days: number): void {
  const { Properties, DeletionPolicy } = stack.resources[bucket]
  expect(DeletionPolicy).toBe('Retain')
  expect(Properties.PublicAccessBlockConfiguration).toEqual({
    BlockPublicAcls: true,
    BlockPublicPolicy: true,
    IgnorePublicAcls: true,
    RestrictPublicBuckets: true,
  })
  expect(Properties.BucketEncryption.ServerSideEncryptionConfiguration).toHaveLength(1)
  expect(Properties.OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerEnforced' }])
  expect(Properties.LifecycleConfiguration.Rules[0]).toMatchObject({ ExpirationInDays: days, Status: 'Enabled' })
  expect(statementsOn(stack, bucket)).toContainEqual(
    expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
  )
}

test('the tables of an earlier stack are adopted by their names, stay if the stack goes again, and the stack says so', async () => {
  for (const name of ['keys', 'usage', 'answers'] as const) {
    const path = `Tables/${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
    // CloudFormation adopts only what has a fixed name and is kept.
    expect(abroad.resources[path]).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: { TableName: ABROAD.tableNames[name] },
    })
    expect(prod.at(path)).not.toHaveProperty('TableName')
  }
  // The next deployment can tell by this if their names are missing.
  expect(await readManifest('mailed')).toMatchObject({ tags: { 'waybill:adopted-tables': 'true' } })
  expect((await readManifest('prod')).tags).not.toHaveProperty('waybill:adopted-tables')
})
