import { expect, test } from '@jest/globals'
import { proseOf, tableOf } from '../documents/support/markdown.ts'
import { type Synthesized, synthesized } from './support/synthesized.ts'
import type { Json } from './support/template.ts'

const prod = await synthesized('prod')
const probed = await synthesized('mailed')

/** Resources that cost by use only, or nothing (the pricing page of each service). */
const BY_USE = [
  'Custom::WaybillCatalogSeed',
  'Custom::WaybillCatalogHead',
  ...Object.entries({
    ApiGatewayV2: 'Api Integration Route Stage',
    Budgets: 'Budget',
    CDK: 'Metadata',
    CertificateManager: 'Certificate',
    CloudFront: 'Distribution Function',
    CloudTrail: 'Trail',
    CodeDeploy: 'Application DeploymentGroup',
    DynamoDB: 'GlobalTable',
    Events: 'Rule',
    Glue: 'Database Table',
    IAM: 'ManagedPolicy Policy Role',
    Lambda: 'Alias EventInvokeConfig Function LayerVersion Permission Url Version',
    Logs: 'Delivery DeliveryDestination DeliverySource LogGroup QueryDefinition',
    Route53: 'RecordSet',
    S3: 'Bucket BucketPolicy',
    SNS: 'Subscription Topic TopicPolicy',
    Scheduler: 'Schedule',
    WAFv2: 'LoggingConfiguration',
  }).flatMap(([service, types]) => types.split(' ').map((type) => `AWS::${service}::${type}`)),
]

type Part = { readonly type: string; readonly countOf: (resource: Json) => number; readonly cents: number }

/** The parts with a price for each month, in cents: list prices of us-east-1. */
const PARTS: Readonly<Record<string, Part>> = {
  'metrics that alarms watch': {
    type: 'AWS::CloudWatch::Alarm',
    countOf: ({ Metrics }) => Metrics?.filter(({ MetricStat }: { MetricStat?: unknown }) => MetricStat).length ?? 1,
    cents: 10,
  },
  dashboards: { type: 'AWS::CloudWatch::Dashboard', countOf: () => 1, cents: 300 },
  secrets: { type: 'AWS::SecretsManager::Secret', countOf: () => 1, cents: 40 },
  'web firewalls': { type: 'AWS::WAFv2::WebACL', countOf: () => 1, cents: 500 },
  'rules of the firewall': { type: 'AWS::WAFv2::WebACL', countOf: ({ Rules }) => Rules.length, cents: 100 },
}

function billOf(stack: Synthesized): string[][] {
  const lines = Object.entries(PARTS).map(([name, { type, countOf, cents }]) => {
    const count = Object.values(stack.of(type)).reduce((sum, resource) => sum + countOf(resource), 0)
    return { name, count, cents: count * cents }
  })
  const total = lines.reduce((sum, { cents }) => sum + cents, 0)
  const dollars = (cents: number) => (cents / 100).toFixed(2)
  return [...lines.map(({ name, count, cents }) => [name, String(count), dollars(cents)]), ['all', '', dollars(total)]]
}

test('docs/deploy.md says what prod costs each month before the first request, as it is synthesized', () => {
  expect(tableOf('docs/deploy.md', '| each month | number | $ |')).toEqual(billOf(prod))
})

test('every kind of resource has a price for each month, or is known to cost by use only', () => {
  const known = [...BY_USE, ...Object.values(PARTS).map(({ type }) => type)]
  const types = new Set(Object.values(prod.resources).map(({ Type }) => Type))
  expect([...types].filter((type) => !known.includes(type))).toEqual([])
})

test('docs/deploy.md says what the probe adds to each month: its secret, and the metrics that alarms watch of it', () => {
  const metrics = Object.values(probed.of('AWS::CloudWatch::Alarm'))
    .flatMap(({ Metrics = [] }) => Metrics.flatMap(({ MetricStat }: Json) => MetricStat ?? []))
    .filter((metric) => JSON.stringify(metric).includes('<Functions/Probe>'))
  const dollars = ((40 + 10 * metrics.length) / 100).toFixed(2)
  expect(proseOf('docs/deploy.md').replaceAll(/\s+/g, ' ')).toContain(
    `\`probe\` adds $${dollars}: its secret and ${metrics.length} metrics`,
  )
})
