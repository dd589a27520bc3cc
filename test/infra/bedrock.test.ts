import { expect, test } from '@jest/globals'
import {
  APPLICATION_PROFILE,
  type BedrockRoutes,
  type GEOGRAPHIES,
  HAIKU,
  OTHER_ARNS,
  PROFILE_ARN,
} from './fixtures/bedrock-routes.ts'
import { type BedrockRights, readFacts, Synthesized, synthesized } from './support/synthesized.ts'

const facts = await readFacts()

const factsOf = (routes: BedrockRoutes) => facts.bedrock[routes] as BedrockRights

/** Each resource, with the profile through which alone it may be called. */
function rightsFor(routes: BedrockRoutes): string[] {
  return factsOf(routes).statements.flatMap(({ Effect, Action, Resource, Condition }) => {
    expect([Effect, Action]).toEqual(['Allow', ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']])
    const profile = Condition?.StringEquals?.['bedrock:InferenceProfileArn']
    expect(Object.keys(Condition ?? {})).toEqual(profile ? ['StringEquals'] : [])
    return [Resource].flat().map((arn) => `${arn}${profile ? ` through ${profile}` : ''}`)
  })
}

const AWS = 'arn:<AWS::Partition>:bedrock'

test('a catalog without a route to Bedrock gives no right to call it', () => {
  expect(rightsFor('nothing')).toEqual([])
  expect(rightsFor('another provider')).toEqual([])
})

test('a catalog gives the right to call each Bedrock model that it names, in its provider’s region, once', () => {
  expect(rightsFor('models here and in Tokyo')).toEqual([
    `${AWS}:us-west-2::foundation-model/${HAIKU}`,
    `${AWS}:us-west-2::foundation-model/moonshotai.kimi-k2.5`,
    `${AWS}:ap-northeast-1::foundation-model/${HAIKU}`,
  ])
})

test.each<[(typeof GEOGRAPHIES)[number], string]>([
  // It has the region of the provider.
  ['us', 'us-*'],
  ['us-gov', 'us-gov-*'],
  ['eu', 'eu-*'],
  ['apac', 'ap-*'],
  ['jp', 'ap-northeast-*'],
  ['au', 'ap-southeast-*'],
  ['ca', 'ca-*'],
  ['global', ''],
])(
  'a Bedrock profile of %s gives the right to call its model, through it and in its regions only',
  (geography, regions) => {
    const profile = `${AWS}:us-west-2:<AWS::AccountId>:inference-profile/${geography}.${HAIKU}`
    expect(rightsFor(`profile of ${geography}`)).toEqual([
      profile,
      ...(geography === 'us' ? [] : [`${AWS}:us-west-2::foundation-model/${HAIKU} through ${profile}`]),
      `${AWS}:${regions}::foundation-model/${HAIKU} through ${profile}`,
    ])
  },
)

test('Bedrock’s endpoints in the formats of others give the rights of their models: at Mantle in the default project', () => {
  const { statements } = factsOf('endpoints of Bedrock in other formats')
  const profile = `${AWS}:us-west-2:<AWS::AccountId>:inference-profile/us.${HAIKU}`
  const told = statements.map(({ Action, Resource, Condition }) => [[Action].flat(), Resource, Condition?.StringEquals])
  const invoke = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']
  const infer = ['bedrock-mantle:CreateInference', 'bedrock-mantle:CountTokens']
  const project = `${AWS}-mantle:us-west-2:<AWS::AccountId>:project/default`
  expect(told).toEqual([
    [invoke, `${AWS}:us-west-2::foundation-model/openai.gpt-5.5`, undefined],
    [invoke, profile, undefined],
    [infer, project, { 'bedrock-mantle:Model': 'openai.gpt-5.5' }],
    [infer, project, { 'bedrock-mantle:Model': 'openai.gpt-5.4' }],
    [invoke, `${AWS}:us-*::foundation-model/${HAIKU}`, { 'bedrock:InferenceProfileArn': profile }],
  ])
})

test('a Bedrock ARN in the catalog gives the same rights as an id', () => {
  expect(rightsFor('ARNs')).toEqual([
    PROFILE_ARN,
    ...OTHER_ARNS,
    `${AWS}:eu-*::foundation-model/${HAIKU} through ${PROFILE_ARN}`,
  ])
})

test('a Bedrock application profile, which hides its model, gives the right to any model through it only', () => {
  expect(rightsFor('an application’s profile')).toEqual([
    APPLICATION_PROFILE,
    `${AWS}:*::foundation-model/* through ${APPLICATION_PROFILE}`,
    `${AWS}:::foundation-model/* through ${APPLICATION_PROFILE}`,
  ])
})

test('each wildcard in the rights for Bedrock is acknowledged once, and nothing else is', () => {
  expect(factsOf('a model and its profiles').acknowledged).toEqual([
    `AwsSolutions::AwsSolutions-IAM5[Resource::${AWS}:us-*::foundation-model/${HAIKU}]`,
    `AwsSolutions::AwsSolutions-IAM5[Resource::${AWS}:eu-*::foundation-model/${HAIKU}]`,
  ])
  expect(factsOf('a model').acknowledged).toEqual([])
})

const rolesThatCallBedrock = (stack: Synthesized) =>
  Object.values(stack.of('AWS::IAM::Policy'))
    .filter((policy) => JSON.stringify(policy).includes('bedrock:'))
    .flatMap(({ Roles }) => Roles)

test('only chat, and the admin API, to test routes, may call Bedrock, and only if the catalog has a route to it', () => {
  expect(rolesThatCallBedrock(new Synthesized(facts.withoutBedrock))).toEqual([])
  expect(rolesThatCallBedrock(new Synthesized(facts.withBedrock)).toSorted()).toEqual([
    expect.stringMatching(/^<FunctionsAdminRole/),
    expect.stringMatching(/^<FunctionsChatRole/),
  ])
})

test('the catalog of the first deployment decides whether a function may call Bedrock', async () => {
  expect(rolesThatCallBedrock(await synthesized('dev')).length).toBe(facts.firstCatalogHasBedrock ? 2 : 0)
})
