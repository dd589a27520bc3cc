import { beforeAll, expect, test } from '@jest/globals'
import { tableOf } from '../documents/support/markdown.ts'
import { synthesized } from './support/synthesized.ts'
import type { Template } from './support/template.ts'

let prod: Template
beforeAll(async () => {
  prod = (await synthesized('prod')).template
}, 480_000)

/** Resources that cost by use only, or nothing (the pricing page of each service). */
const BY_USE = [
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::ApiGatewayV2::Stage',
  'AWS::Budgets::Budget',
  'AWS::CDK::Metadata',
  'AWS::CertificateManager::Certificate',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::Function',
  'AWS::CloudTrail::Trail',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::DynamoDB::GlobalTable',
  'AWS::Events::Rule',
  'AWS::Glue::Database',
  'AWS::Glue::Table',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Function',
  'AWS::Lambda::LayerVersion',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Url',
  'AWS::Lambda::Version',
  'AWS::Logs::Delivery',
  'AWS::Logs::DeliveryDestination',
  'AWS::Logs::DeliverySource',
  'AWS::Logs::LogGroup',
  'AWS::Logs::QueryDefinition',
  'AWS::Route53::RecordSet',
  'AWS::S3::Bucket',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::Scheduler::Schedule',
  'AWS::WAFv2::LoggingConfiguration',
  'Custom::WaybillCatalogSeed',
]

type Resource = ReturnType<Template['findResources']>[string]['Properties']
type Part = {
  readonly type: string
  readonly countOf: (resource: Resource) => number
  readonly cents: number
}

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

function billOf(template: Template): string[][] {
  const lines = Object.entries(PARTS).map(([name, { type, countOf, cents }]) => {
    const resources = Object.values(template.findResources(type))
    const count = resources.reduce((sum, { Properties }) => sum + countOf(Properties), 0)
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
  const types = new Set(Object.values(prod.json.Resources).map(({ Type }) => Type))
  expect([...types].filter((type) => !known.includes(type))).toEqual([])
})
