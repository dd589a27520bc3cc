import { describe, expect, jest, test } from '@jest/globals'
import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { parseCatalog } from '../../catalog/parse-catalog.ts'
import { acknowledgedWildcards, invokeBedrock } from '../../infra/bedrock.ts'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import { synthesize, textOf } from './support/synthesize.ts'

const { Functions } = await import('../../infra/functions.ts')
const { stageOf } = await import('../../infra/stages.ts')
const { Tables } = await import('../../infra/tables.ts')

/** A catalog with one model for each of these at Bedrock in us-west-2, or at another provider. */
function catalogOf(...routes: (string | { provider: string; model: string })[]): CatalogData {
  const parsed = parseCatalog({
    providers: {
      openai: { type: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: 'secret:openai' },
      bedrock: { type: 'bedrock', region: 'us-west-2' },
      tokyo: { type: 'bedrock', region: 'ap-northeast-1' },
    },
    models: routes.map((route, index) => ({
      id: `m${index}`,
      contextLength: 1000,
      maxOutputTokens: 100,
      price: { input: '1', output: '2' },
      routes: [typeof route === 'string' ? { provider: 'bedrock', model: route } : route],
    })),
  })
  if ('faults' in parsed) throw new Error(parsed.faults.join('; '))
  return parsed.catalog
}

/** Each resource, with the profile through which alone it may be called. */
function rightsIn(statements: readonly PolicyStatement[]): string[] {
  const stack = new Stack(new App())
  return statements.flatMap((statement) => {
    const { Effect, Action, Resource, Condition } = stack.resolve(statement.toStatementJson())
    expect([Effect, Action]).toEqual(['Allow', ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']])
    const profile = Condition?.StringEquals['bedrock:InferenceProfileArn']
    expect(Object.keys(Condition ?? {})).toEqual(profile ? ['StringEquals'] : [])
    return [Resource].flat().map((arn) => textOf(arn) + (profile ? ` through ${textOf(profile)}` : ''))
  })
}

const rightsFor = (...routes: Parameters<typeof catalogOf>) => rightsIn(invokeBedrock(catalogOf(...routes)))
const AWS = 'arn:<AWS::Partition>:bedrock'
const HAIKU = 'anthropic.claude-3-haiku-20240307-v1:0'

describe('the right to call Bedrock', () => {
  test('is none where no route leads there', () => {
    expect(rightsFor()).toEqual([])
    expect(rightsFor({ provider: 'openai', model: HAIKU })).toEqual([])
  })

  test('is for the models named, in their provider’s region, each once', () => {
    expect(
      rightsFor(
        HAIKU,
        HAIKU,
        'moonshotai.kimi-k2.5',
        { provider: 'tokyo', model: HAIKU },
        { provider: 'openai', model: 'x' },
      ),
    ).toEqual([
      `${AWS}:us-west-2::foundation-model/${HAIKU}`,
      `${AWS}:us-west-2::foundation-model/moonshotai.kimi-k2.5`,
      `${AWS}:ap-northeast-1::foundation-model/${HAIKU}`,
    ])
  })

  test.each([
    ['us', 'us-*'],
    ['us-gov', 'us-gov-*'],
    ['eu', 'eu-*'],
    ['apac', 'ap-*'],
    ['jp', 'ap-northeast-*'],
    ['au', 'ap-southeast-*'],
    ['ca', 'ca-*'],
    ['global', ''],
  ])('is for a profile of %s and, only through it, its model in the regions that it leads to', (geography, regions) => {
    const profile = `${AWS}:us-west-2:<AWS::AccountId>:inference-profile/${geography}.${HAIKU}`
    expect(rightsFor(`${geography}.${HAIKU}`)).toEqual([
      profile,
      `${AWS}:us-west-2::foundation-model/${HAIKU} through ${profile}`,
      `${AWS}:${regions}::foundation-model/${HAIKU} through ${profile}`,
    ])
  })

  test('is for an ARN what it is for an id', () => {
    const profile = `arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.${HAIKU}`
    const others = [
      'arn:aws:bedrock:us-west-2:123456789012:provisioned-model/abc123',
      'arn:aws:bedrock:us-west-2:123456789012:imported-model/abc123',
    ]
    expect(rightsFor(profile, ...others)).toEqual([
      profile,
      ...others,
      `${AWS}:eu-west-1::foundation-model/${HAIKU} through ${profile}`,
      `${AWS}:eu-*::foundation-model/${HAIKU} through ${profile}`,
    ])
  })

  test('is for an application’s profile, which does not tell its model, any model but only through it', () => {
    const profile = 'arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/abc123'
    expect(rightsFor(profile)).toEqual([
      profile,
      `${AWS}:*::foundation-model/* through ${profile}`,
      `${AWS}:::foundation-model/* through ${profile}`,
    ])
  })

  test('has each of its wildcards acknowledged once, and nothing else', () => {
    const catalog = catalogOf(HAIKU, `us.${HAIKU}`, `eu.${HAIKU}`, `global.${HAIKU}`)
    expect(acknowledgedWildcards(catalog).map(({ id }) => id)).toEqual([
      `AwsSolutions::AwsSolutions-IAM5[Resource::${AWS}:us-*::foundation-model/${HAIKU}]`,
      `AwsSolutions::AwsSolutions-IAM5[Resource::${AWS}:eu-*::foundation-model/${HAIKU}]`,
    ])
    expect(acknowledgedWildcards(catalogOf(HAIKU))).toEqual([])
  })
})

// The first stack loads most of the CDK.
jest.setTimeout(60_000)

describe('in the stack', () => {
  const rolesThatCallBedrock = (template: Template) =>
    Object.values(template.findResources('AWS::IAM::Policy'))
      .filter((policy) => JSON.stringify(policy).includes('bedrock:'))
      .flatMap(({ Properties }) => Properties.Roles.map(({ Ref }: { Ref: string }) => Ref))

  function stackWith(catalog: CatalogData): Template {
    const stack = new Stack(new App())
    const stage = stageOf('dev')
    const tables = new Tables(stack, 'Tables', stage)
    new Functions(stack, 'Functions', { stage, tables, originSecret: undefined, catalog })
    return Template.fromStack(stack)
  }

  test('nobody may call Bedrock where the catalog has no route to it', () => {
    expect(rolesThatCallBedrock(stackWith(catalogOf({ provider: 'openai', model: 'gpt-4o' })))).toEqual([])
  })

  test('only chat may where it has one', () => {
    expect(rolesThatCallBedrock(stackWith(catalogOf(`us.${HAIKU}`)))).toEqual([
      expect.stringMatching(/^FunctionsChatRole/),
    ])
  })

  test('the catalog of the first deployment decides', async () => {
    const { readSeedCatalog } = await import('../../infra/read-seed-catalog.ts')
    const has = invokeBedrock(readSeedCatalog()).length > 0
    expect(rolesThatCallBedrock(synthesize('dev').template).length).toBe(has ? 1 : 0)
  })
})
