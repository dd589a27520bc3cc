import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { ENV } from '../../layers/gateway/names.ts'
import { emptyFolder } from '../support/processes.ts'
import { largeCatalog } from './fixtures/bedrock-routes.ts'
import { COMBINATIONS, type Combination, EVERYTHING, nameOf, pairwise } from './support/combinations.ts'
import { circleIn, graphOf } from './support/dependency-graph.ts'
import { type DeployedStack, stacksOf } from './support/deployed-stack.ts'
import { beyond } from './support/measure.ts'
import { physicalNames } from './support/physical-names.ts'

/** Chat's alias waits for its alarms, and the admin API for chat's address, if there is no domain. */
const NARROW: Combination = {
  stage: 'prod',
  region: 'us-east-1',
  adminKeys: 'none',
  rollout: 'canary',
  probe: 'on',
  edge: 'count none',
}
/** As one of the next, but that its firewall in us-east-1 is another. */
const COUNTING: Combination = { ...EVERYTHING, stage: 'prod', region: 'eu-west-1', edge: 'count zone' }
/** Every stage in two regions of one account. */
const SIDE_BY_SIDE = COMBINATIONS.filter(({ stage, region, ...rest }) =>
  Object.entries(EVERYTHING).every(([name, value]) => rest[name as keyof typeof rest] === value),
)
// A template takes half a second, so all of them are made at night only.
const tried = process.env.TEST_CASES === 'all' ? [...COMBINATIONS] : [...pairwise(), NARROW, COUNTING, ...SIDE_BY_SIDE]

const stacks = new Map<string, DeployedStack[]>()
function of(combination: Combination): DeployedStack[] {
  const name = nameOf(combination)
  const made = stacks.get(name) ?? stacksOf(combination)
  stacks.set(name, made)
  return made
}

test.each(tried.map((combination) => [nameOf(combination), combination] as const))(
  'no resource of %s waits for itself, so that it can be deployed',
  (_, combination) => {
    expect(of(combination).length).toBeGreaterThan(0)
    for (const { name, template } of of(combination)) expect([name, circleIn(graphOf(template))]).toEqual([name, []])
  },
)

const catalog = join(emptyFolder(), 'catalog.json')
writeFileSync(catalog, JSON.stringify(largeCatalog(50)))

test.each(tried.map((combination) => [nameOf(combination), combination] as const))(
  'nothing of %s is beyond a limit of AWS, as it comes and with 50 models of Bedrock',
  (_, combination) => {
    expect([...of(combination), ...stacksOf(combination, catalog)].flatMap(beyond)).toEqual([])
  },
)

test.each([
  ['the circle that there was', 'AdminReleaseErrors', ['FunctionsAdminCurrentVersion', 'FunctionsChatLive']],
  ['the circle that there would be', 'ProbeFailed', []],
])('%s is found: chat taken back by the alarm %s of a function whose address is chat’s', (_, alarm, between) => {
  const [stack] = of(NARROW)
  if (!stack) throw new Error('It was not made.')
  const { Resources } = structuredClone(stack.template)
  const idOf = (start: string) => Object.keys(Resources).find((id) => id.startsWith(start)) ?? ''
  const Ref = idOf(`Monitoring${alarm}`)
  Resources[idOf('RolloutChat')]?.Properties.AlarmConfiguration.Alarms.push({ Name: { Ref } })
  expect(circleIn(graphOf({ ...stack.template, Resources }))).toEqual(
    expect.arrayContaining([Ref, ...['RolloutChat', ...between].map(idOf)]),
  )
})

test.each([
  ['Ref', { Properties: { a: [{ Ref: 'B' }] } }],
  ['Fn::GetAtt', { Properties: { 'Fn::GetAtt': ['B', 'Arn'] } }],
  ['Fn::GetAtt with a dot', { Properties: { 'Fn::GetAtt': 'B.Arn' } }],
  ['Fn::Sub', { Properties: { 'Fn::Sub': `arn:$\{B.Arn}/*` } }],
  ['Fn::Sub with values', { Properties: { 'Fn::Sub': [`$\{x}`, { x: { Ref: 'B' } }] } }],
  ['a branch', { Properties: { 'Fn::If': ['IsOn', { Ref: 'AWS::NoValue' }, { Ref: 'B' }] } }],
  ['DependsOn', { DependsOn: 'B' }],
  ['UpdatePolicy', { UpdatePolicy: { CodeDeployLambdaAliasUpdate: { ApplicationName: { Ref: 'B' } } } }],
])('a resource waits for another by %s', (_, A) => {
  const B = { Properties: { Ref: 'A' } }
  expect(circleIn(graphOf({ Resources: { A, B }, Conditions: {}, Outputs: {} }))).toEqual(['A', 'B', 'A'])
  expect(circleIn(graphOf({ Resources: { A, B: {} }, Conditions: {}, Outputs: {} }))).toEqual([])
})

test('stages and regions of one account share no name', () => {
  expect(SIDE_BY_SIDE).toHaveLength(4)
  const names = SIDE_BY_SIDE.flatMap(of).flatMap(physicalNames)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  expect(twice).toEqual([])
  // The kinds of names that AWS compares across regions, and in us-east-1, are among them.
  for (const kind of ['Dashboard', 'DeliverySource', 'CloudFront::Function', 'LogGroup'])
    expect(names.join()).toContain(kind)
})

test('the probe calls the addresses that clients have for models and for chats, and no deployment of chat waits for its alarm', () => {
  const probing = tried.filter(({ probe }) => probe === 'on')
  expect(new Set(probing.map(({ edge }) => edge === 'none'))).toEqual(new Set([true, false]))
  for (const combination of probing) {
    const main = of(combination).find(({ name }) => name === `Waybill-${combination.stage}`)
    const { Resources = {}, Outputs } = main?.template ?? {}
    const called = Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
      Type === 'AWS::Lambda::Function' && id.startsWith('FunctionsProbe') ? [Properties.Environment.Variables] : [],
    )
    const { BaseUrl, ApiUrl = BaseUrl, ChatUrl = BaseUrl } = Outputs ?? {}
    expect(called).toMatchObject([{ [ENV.baseUrl]: ChatUrl.Value, [ENV.apiUrl]: ApiUrl.Value }])
    const groups = Object.values(Resources).filter(({ Type }) => Type === 'AWS::CodeDeploy::DeploymentGroup')
    expect(JSON.stringify(groups)).not.toContain('ProbeFailed')
  }
})

test('the parts in us-east-1 change the main stack when they change, which it would not see by itself', () => {
  const tagOf = (combination: Combination) => {
    const main = of(combination).find(({ name }) => name === 'Waybill-prod')
    const distributions = Object.values(main?.template.Resources ?? {}).filter(({ Type }) => /Distribution$/.test(Type))
    return distributions.flatMap(({ Properties }) => Properties.Tags).find(({ Key }) => Key === 'waybill:edge-parts')
      ?.Value
  }
  const tags = [tagOf(COUNTING), tagOf({ ...COUNTING, edge: 'block zone' })]
  expect(tags).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^[0-9a-f]{16}$/)])
  expect(new Set(tags).size).toBe(2)
})
