import { beforeAll, describe, expect, test } from '@jest/globals'
import { GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { ABROAD, OWN_CERTIFICATE } from './fixtures/domains.ts'
import {
  only,
  readBeside,
  readFacts,
  readManifest,
  readOrder,
  type Synthesized,
  synthesized,
  textOf,
} from './support/synthesized.ts'
import { Template } from './support/template.ts'

let dev: Synthesized
let prod: Synthesized
/** Prod in Ireland, with a domain, and a firewall that blocks. */
let abroad: Synthesized
let firewallAbroad: Template
let certificateAbroad: Template
let logsAbroad: Template
/** With an own certificate, and without IPv6. */
let certified: Template
beforeAll(async () => {
  dev = await synthesized('dev')
  prod = await synthesized('prod')
  abroad = await synthesized('mailed')
  firewallAbroad = (await readBeside('mailed', 'firewall-eu-west-1')).template
  certificateAbroad = (await readBeside('mailed', 'certificate-eu-west-1')).template
  logsAbroad = (await readBeside('mailed', 'edge-logs-eu-west-1')).template
  certified = new Template((await readFacts()).withoutIpv6)
}, 480_000)

const configOf = (template: Template) => only(template, 'AWS::CloudFront::Distribution').properties.DistributionConfig
const outputOf = (StackName: string, OutputName: string, Region: string) => ({
  'Fn::GetStackOutput': { StackName, OutputName, Region },
})

describe('the stacks', () => {
  test('dev is one stack in every region, and needs nothing of us-east-1', async () => {
    // It is dev in Ireland, with an acknowledgement missing.
    expect(await readOrder('forgetful')).toEqual({ 'Waybill-dev': [] })
  })

  test('dev and prod are one stack each in us-east-1, and dev has no firewall, certificate, bucket or trail', async () => {
    expect(await readOrder('dev')).toEqual({ 'Waybill-dev': [] })
    expect(await readOrder('prod')).toEqual({ 'Waybill-prod': [] })
    const types = Object.values(dev.template.json.Resources).map(({ Type }) => Type)
    expect(types.filter((type) => /WAFv2|CertificateManager|S3|CloudTrail|Route53|Delivery/.test(type))).toEqual([])
  })

  test('what CloudFront takes from us-east-1 only is there also if the stage is in another region, and is there first', async () => {
    expect(await readOrder('mailed')).toEqual({
      'Waybill-prod-certificate-eu-west-1': [],
      'Waybill-prod-firewall-eu-west-1': [],
      'Waybill-prod': ['Waybill-prod-certificate-eu-west-1', 'Waybill-prod-firewall-eu-west-1'],
      'Waybill-prod-edge-logs-eu-west-1': ['Waybill-prod'],
      'Waybill-prod-edge-alarms-eu-west-1': ['Waybill-prod'],
    })
    for (const part of ['certificate', 'firewall', 'edge-logs', 'edge-alarms'].map((it) => `${it}-eu-west-1`)) {
      expect((await readBeside('mailed', part)).environment).toBe('aws://unknown-account/us-east-1')
    }
    const types = Object.values(abroad.template.json.Resources).map(({ Type }) => Type)
    expect(types.filter((type) => /WAFv2|CertificateManager|Delivery/.test(type))).toEqual([])
  })
})

describe('the domain', () => {
  test('a stage with a domain answers to it, and its base URL is the domain', () => {
    expect(configOf(abroad.template).Aliases).toEqual([ABROAD.domain.name])
    expect(abroad.template.json.Outputs[OUTPUTS.baseUrl].Value).toBe('https://api.example.com/v1')
    const { id } = only(abroad.template, 'AWS::CloudFront::Distribution')
    expect(abroad.template.json.Outputs[OUTPUTS.edgeDomain].Value).toEqual({ 'Fn::GetAtt': [id, 'DomainName'] })
  })

  test('a domain is served with TLS 1.2 or newer only', () => {
    for (const template of [abroad.template, certified]) {
      expect(configOf(template).ViewerCertificate).toMatchObject({
        MinimumProtocolVersion: 'TLSv1.2_2021',
        SslSupportMethod: 'sni-only',
      })
    }
  })

  test('a certificate is made in the zone of the domain, and outlives its replacement, while CloudFront has it still', () => {
    const { id, resource, properties } = only(certificateAbroad, 'AWS::CertificateManager::Certificate')
    expect(properties).toMatchObject({
      DomainName: ABROAD.domain.name,
      ValidationMethod: 'DNS',
      DomainValidationOptions: [{ HostedZoneId: ABROAD.domain.hostedZone.id }],
    })
    expect(resource).toMatchObject({ UpdateReplacePolicy: 'Retain', DeletionPolicy: 'Delete' })
    expect(certificateAbroad.json.Outputs.Arn.Value).toEqual({ Ref: id })
    expect(configOf(abroad.template).ViewerCertificate.AcmCertificateArn).toEqual(
      outputOf('Waybill-prod-certificate-eu-west-1', 'Arn', 'us-east-1'),
    )
  })

  test('an operator’s own certificate is used as it is, and none is made', () => {
    expect(configOf(certified).ViewerCertificate.AcmCertificateArn).toBe(OWN_CERTIFICATE.certificateArn)
    expect(certified.findResources('AWS::CertificateManager::Certificate')).toEqual({})
  })

  test('the domain’s records lead to CloudFront, over IPv6 only where CloudFront takes it', () => {
    const recordsOf = (template: Template) =>
      Object.values(template.findResources('AWS::Route53::RecordSet')).map(({ Properties }) => {
        const { id } = only(template, 'AWS::CloudFront::Distribution')
        expect(Properties).toMatchObject({
          HostedZoneId: ABROAD.domain.hostedZone.id,
          AliasTarget: { DNSName: { 'Fn::GetAtt': [id, 'DomainName'] } },
        })
        return `${Properties.Type} ${Properties.Name}`
      })
    expect(recordsOf(abroad.template)).toEqual(['A api.example.com.', 'AAAA api.example.com.'])
    expect(recordsOf(certified)).toEqual(['A dev.example.com.'])
    expect(recordsOf(prod.template)).toEqual([])
  })
})

describe('the firewall', () => {
  const firewalls = [
    { name: 'prod', of: () => prod.template, limit: 100_000, override: { Count: {} } },
    {
      name: 'a stage that blocks',
      of: () => firewallAbroad,
      limit: 200_000,
      override: { None: {} },
    },
  ]
  const rulesOf = (template: Template) => only(template, 'AWS::WAFv2::WebACL').properties.Rules

  test('CloudFront has the firewall in prod, and none in dev', () => {
    const { id } = only(prod.template, 'AWS::WAFv2::WebACL')
    expect(configOf(prod.template).WebACLId).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
    expect(configOf(abroad.template).WebACLId).toEqual(outputOf('Waybill-prod-firewall-eu-west-1', 'Arn', 'us-east-1'))
    expect(configOf(dev.template)).not.toHaveProperty('WebACLId')
  })

  test.each(firewalls)('the firewall of $name limits each address by itself', ({ of, limit }) => {
    const [{ Statement }] = rulesOf(of())
    expect(Statement).toEqual({
      RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 300, Limit: limit },
    })
  })

  test('one address may send as much as all places for chats in prod can serve, if each is free again after 1.5 seconds', () => {
    const chat = prod.template.findResources('AWS::Lambda::Function')[prod.functions.chat]?.Properties
    const [{ Statement }] = rulesOf(prod.template)
    const served = (chat.ReservedConcurrentExecutions / 1.5) * Statement.RateBasedStatement.EvaluationWindowSec
    expect(Statement.RateBasedStatement.Limit).toBeGreaterThanOrEqual(Math.floor(served))
  })

  test('an address beyond its limit gets a 429 that an SDK can read, and is told when to come back', () => {
    const { CustomResponseBodies, Rules } = only(prod.template, 'AWS::WAFv2::WebACL').properties
    const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Rules[0].Action.Block.CustomResponse
    const { status, type, code } = new GatewayError('rate_limit_exceeded', '')
    expect(ResponseCode).toBe(status)
    expect(ResponseHeaders).toEqual([{ Name: 'Retry-After', Value: '60' }])
    const { Content, ContentType } = CustomResponseBodies[CustomResponseBodyKey]
    expect(ContentType).toBe('APPLICATION_JSON')
    expect(JSON.parse(Content)).toEqual({
      error: { message: expect.stringContaining('your address'), type, code, param: null },
    })
  })

  test.each(firewalls)('the common rules of $name count or block as its settings say', ({ of, override }) => {
    expect(rulesOf(of())[1]).toMatchObject({
      OverrideAction: override,
      Statement: { ManagedRuleGroupStatement: { VendorName: 'AWS', Name: 'AWSManagedRulesCommonRuleSet' } },
    })
  })

  test.each(firewalls)('no prompt is blocked in $name for its length or for what it is about', ({ of }) => {
    const { RuleActionOverrides } = rulesOf(of())[1].Statement.ManagedRuleGroupStatement
    // Those of the group that look into a body, by docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
    const names = ['SizeRestrictions', 'EC2MetaDataSSRF', 'GenericLFI', 'GenericRFI', 'CrossSiteScripting']
    expect(RuleActionOverrides.map(({ Name }: { Name: string }) => Name).toSorted()).toEqual(
      names.map((name) => `${name}_BODY`).toSorted(),
    )
    for (const { ActionToUse } of RuleActionOverrides) expect(ActionToUse).toEqual({ Count: {} })
  })

  test.each(firewalls)(
    'the firewall of $name is measured, and records no header, query, path or piece of a body',
    ({ of }) => {
      const template = of()
      const { id, properties } = only(template, 'AWS::WAFv2::WebACL')
      const visible = [properties, ...properties.Rules].map(({ VisibilityConfig }) => VisibilityConfig)
      for (const config of visible) {
        expect(config).toMatchObject({ CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false })
      }
      expect(new Set(visible.map(({ MetricName }) => MetricName)).size).toBe(3)
      // Without names of its own, a field stands for all of its kind.
      const withheld = ['BODY', 'QUERY_STRING', 'SINGLE_COOKIE', 'SINGLE_HEADER', 'SINGLE_QUERY_ARGUMENT']
      expect(properties.DataProtectionConfig.DataProtections.toSorted(byField)).toEqual(
        withheld.map((FieldType) => ({ Action: 'SUBSTITUTION', Field: { FieldType } })),
      )
      const logging = only(template, 'AWS::WAFv2::LoggingConfiguration').properties
      expect(logging.ResourceArn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
      expect(logging.RedactedFields).toEqual([{ UriPath: {} }, { QueryString: {} }])
      expect(logging.LoggingFilter).toMatchObject({ DefaultBehavior: 'DROP', Filters: [{ Behavior: 'KEEP' }] })
    },
  )

  test.each(firewalls)(
    'the firewall of $name logs into a group whose name WAF takes, without the end that it refuses',
    ({ of }) => {
      const template = of()
      const [destination] = only(template, 'AWS::WAFv2::LoggingConfiguration').properties.LogDestinationConfigs
      const [, group = ''] = /:log-group:<(\w+)>$/.exec(textOf(destination)) ?? []
      const { DeletionPolicy, Properties } = template.findResources('AWS::Logs::LogGroup')[group] ?? {}
      expect(Properties).toMatchObject({
        LogGroupName: expect.stringMatching(/^aws-waf-logs-Waybill-prod/),
        RetentionInDays: 90,
      })
      // So that the next stack can adopt what this one leaves behind under the same name.
      expect(DeletionPolicy).toBe('Retain')
    },
  )

  const byField = (one: { Field: { FieldType: string } }, other: { Field: { FieldType: string } }) =>
    one.Field.FieldType < other.Field.FieldType ? -1 : 1
})

describe('CloudFront’s logs', () => {
  const logs = [
    { name: 'prod', of: () => prod.template },
    { name: 'a stage in another region', of: () => logsAbroad },
  ]

  test.each(logs)('CloudFront’s requests in $name are logged without a header, a query or a path', ({ of }) => {
    const { RecordFields } = only(of(), 'AWS::Logs::Delivery').properties
    expect(RecordFields).toEqual(expect.arrayContaining(['c-ip', 'sc-status', 'time-taken', 'x-edge-request-id']))
    for (const field of RecordFields)
      expect(field).not.toMatch(/cs\(|header|host|uri|query|cookie|referer|agent|forwarded/i)
    const documented = readDocument('docs/deploy.md')
    for (const field of RecordFields) expect(documented).toContain(`\`${field}\``)
  })

  test.each(logs)('the logs of $name are of its distribution, and only their delivery may write them', ({ of }) => {
    const template = of()
    const source = only(template, 'AWS::Logs::DeliverySource').properties
    expect(source.LogType).toBe('ACCESS_LOGS')
    const id = source.ResourceArn['Fn::Join'][1].at(-1)
    expect(id).toEqual(
      template === logsAbroad
        ? outputOf('Waybill-prod', OUTPUTS.distributionId, 'eu-west-1')
        : { Ref: only(template, 'AWS::CloudFront::Distribution').id },
    )
    const bucket = only(template, 'AWS::Logs::DeliveryDestination').properties.DestinationResourceArn['Fn::GetAtt'][0]
    const allowed = statementsOn(template, bucket).filter(({ Effect }) => Effect === 'Allow')
    expect(allowed).toHaveLength(1)
    expect(allowed[0]).toMatchObject({ Action: 's3:PutObject', Principal: { Service: 'delivery.logs.amazonaws.com' } })
    expect(allowed[0]?.Condition.StringEquals['aws:SourceAccount']).toEqual({ Ref: 'AWS::AccountId' })
    expect(textOf(allowed[0]?.Condition.ArnLike['aws:SourceArn'])).toMatch(
      /:delivery-source:Waybill-prod-edge(-logs-eu-west-1-edge)?$/,
    )
    expectPrivate(template, bucket, 90)
  })

  test('a distribution in another region tells the stack of its logs which one it is', () => {
    const { id } = only(abroad.template, 'AWS::CloudFront::Distribution')
    expect(abroad.template.json.Outputs[OUTPUTS.distributionId].Value).toEqual({ Ref: id })
  })
})

describe('the trail of the keys', () => {
  const trail = () => only(prod.template, 'AWS::CloudTrail::Trail').properties
  type Selector = { readonly Field: string }
  const selectorsOf = (index: number) =>
    Object.fromEntries(
      trail().AdvancedEventSelectors[index].FieldSelectors.map(({ Field, ...is }: Selector) => [Field, is]),
    )

  test('CloudTrail records whoever touches the table of keys, except for the functions, which would cost more than their writes', () => {
    const { 'userIdentity.arn': who, ...what } = selectorsOf(0)
    expect(what).toEqual({
      eventCategory: { Equals: ['Data'] },
      'resources.type': { Equals: ['AWS::DynamoDB::Table'] },
      'resources.ARN': { Equals: [{ 'Fn::GetAtt': [prod.tables.keys, 'Arn'] }] },
    })
    const functions = prod.template.findResources('AWS::Lambda::Function')
    const { tokenizer, ...others } = prod.functions
    const sessions = Object.values(others).map((id) => {
      const role: string = functions[id]?.Properties.Role['Fn::GetAtt'][0]
      // Nobody but Lambda can take the role, and so hide behind it.
      const { Properties } = prod.template.findResources('AWS::IAM::Role')[role] ?? {}
      const { Statement } = Properties.AssumeRolePolicyDocument
      expect(Statement).toHaveLength(1)
      expect(Statement[0]).toMatchObject({ Principal: { Service: 'lambda.amazonaws.com' } })
      return `arn:<AWS::Partition>:sts::<AWS::AccountId>:assumed-role/<${role}>/`
    })
    expect(who.NotStartsWith.map(textOf).toSorted()).toEqual(sessions.toSorted())
    expect(tokenizer).toBeDefined()
  })

  test('the trail records who reads or deletes its own records, and never what CloudTrail writes', () => {
    const bucket = trail().S3BucketName.Ref
    const { 'resources.ARN': where, ...rest } = selectorsOf(1)
    expect(where.StartsWith.map(textOf)).toEqual([`<${bucket}.Arn>/`])
    expect(rest).toEqual({
      eventCategory: { Equals: ['Data'] },
      'resources.type': { Equals: ['AWS::S3::Object'] },
      eventName: { NotEquals: ['PutObject'] },
    })
    expect(trail().AdvancedEventSelectors).toHaveLength(2)
  })

  test('the trail’s records can be checked for changes, are kept for a year, and only CloudTrail may write them', () => {
    expect(trail()).toMatchObject({ IsLogging: true, EnableLogFileValidation: true, IsMultiRegionTrail: false })
    const bucket = trail().S3BucketName.Ref
    const allowed = statementsOn(prod.template, bucket).filter(({ Effect }) => Effect === 'Allow')
    expect(allowed.map(({ Action }) => Action)).toEqual(['s3:GetBucketAcl', 's3:PutObject'])
    for (const { Principal, Condition } of allowed) {
      expect(Principal).toEqual({ Service: 'cloudtrail.amazonaws.com' })
      expect(textOf(Condition.StringEquals['aws:SourceArn'])).toMatch(/:trail\/Waybill-prod-keys$/)
    }
    expect(trail().TrailName).toBe('Waybill-prod-keys')
    expectPrivate(prod.template, bucket, 365)
  })
})

type PolicyStatement = {
  readonly Effect: string
  readonly Action: string
  readonly Principal: unknown
  readonly Condition: Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
    readonly StringEquals: Readonly<Record<string, unknown>>
    readonly ArnLike: Readonly<Record<string, unknown>>
  }
}

function statementsOn(template: Template, bucket: string): PolicyStatement[] {
  return Object.values(template.findResources('AWS::S3::BucketPolicy'))
    .filter(({ Properties }) => Properties.Bucket.Ref === bucket)
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
}

function expectPrivate(template: Template, bucket: string, days: number): void {
  const { Properties, DeletionPolicy } = template.findResources('AWS::S3::Bucket')[bucket] ?? {}
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
  expect(statementsOn(template, bucket)).toContainEqual(
    expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
  )
}

test('a stack that has adopted its tables says so, so that the next deployment can tell if their names are missing', async () => {
  expect(await readManifest('mailed')).toMatchObject({ tags: { 'waybill:adopted-tables': 'true' } })
  expect((await readManifest('prod')).tags).not.toHaveProperty('waybill:adopted-tables')
})

test('the tables of an earlier stack are adopted by their names, and stay if the stack goes again', () => {
  const made = abroad.template.findResources('AWS::DynamoDB::GlobalTable')
  for (const name of ['keys', 'usage', 'answers'] as const) {
    // CloudFormation adopts only what has a fixed name and is kept.
    expect(made[abroad.tables[name]]).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: { TableName: ABROAD.tableNames[name] },
    })
    expect(prod.template.findResources('AWS::DynamoDB::GlobalTable')[prod.tables[name]]?.Properties).not.toHaveProperty(
      'TableName',
    )
  }
})
