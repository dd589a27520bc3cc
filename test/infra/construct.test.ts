import { beforeAll, describe, expect, test } from '@jest/globals'
import { MAY_COME_LATER } from '../../infra/settings.ts'
import { OUTPUTS } from '../../layers/gateway/contract.ts'
import { type AppFacts, makeApps, type StackFacts } from './support/apps.ts'
import { butForNames, differencesOf } from './support/but-for-names.ts'

let facts: AppFacts

beforeAll(async () => {
  facts = await makeApps()
}, 300_000)

const only = ([stack, ...rest]: readonly StackFacts[]): StackFacts => {
  if (!stack || rest.length > 0) throw new Error(`There are ${rest.length + 1} stacks.`)
  return stack
}

describe('the construct in somebody else’s app', () => {
  test('makes what our own stack has, but for names, whichever feature flags the app has', () => {
    const theirs = { stackName: 'Assistant', path: 'Assistant/Gateway' }
    const ours = { stackName: 'Waybill-prod', path: 'Waybill-prod/Default' }
    const made = butForNames(only(facts.theirs).template, theirs, 'Waybill-prod')
    const expected = butForNames(only(facts.ours).template, ours, 'Waybill-prod')
    expect(Object.keys(made.Resources).length).toBeGreaterThan(200)
    expect(differencesOf(made.Resources, expected.Resources)).toEqual([])
    expect(made.Outputs).toEqual(expected.Outputs)
  })

  test('has the resources that CloudFront needs in us-east-1 in stacks beside its own, in its account', () => {
    const part = (name: string) => `Assistant-${name}-eu-west-1`
    const places = facts.abroad.map(({ name, place, after }) => [name, place, after.toSorted()])
    const inUsEast1 = '123456789012/us-east-1'
    expect(places.toSorted()).toEqual([
      ['Assistant', '123456789012/eu-west-1', [part('certificate'), part('firewall')]],
      [part('certificate'), inUsEast1, []],
      [part('edge-alarms'), inUsEast1, ['Assistant']],
      [part('edge-logs'), inUsEast1, ['Assistant']],
      [part('firewall'), inUsEast1, []],
    ])
  })

  test('may be in several stages of a pipeline, under the same name', () => {
    expect(facts.inStages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Beta-Assistant', 'Live-Assistant', 'Live-Assistant-firewall-eu-west-1']),
    )
  })

  test('has no finding of cdk-nag, also in a stack that names its account and region', () => {
    expect(facts.findings.filter((rule) => rule.includes('AwsSolutions'))).toEqual([])
  })

  test('has its outputs as attributes', () => {
    const { Outputs } = only(facts.theirs).template
    const known = Object.values<string>(OUTPUTS)
    const outputOf = (name: string) => Outputs[name]?.Value
    const { ApiUrl, ...all } = facts.attributes.all
    expect(ApiUrl).toEqual(outputOf('BaseUrl'))
    expect(all).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, outputOf(name)])))
    // The facts that only the command line and the stacks beside need.
    const rest = known.filter((name) => name in Outputs && !(name in all))
    expect(rest).toEqual(['RolloutApplication', 'Stage', 'Protected', 'Ipv6'])
    expect(Object.keys(facts.attributes.bare)).not.toContain('AdminUrl')
  })

  test('is known to metrics, secrets, the dashboard and the command line by its own name', () => {
    const text = JSON.stringify(only(facts.named).template)
    expect(only(facts.named).template.Outputs.Stage.Value).toBe('my-second')
    for (const name of ['secret:waybill/my-second/*', 'Waybill-my-second-', '"waybill_my_second"']) {
      expect([name, text.includes(name)]).toEqual([name, true])
    }
    expect(text).not.toMatch(/Waybill-prod|waybill\/prod|waybill_prod/)
  })

  test.each(MAY_COME_LATER.filter((name) => name !== 'domain'))('takes %s from a parameter', (name) => {
    const { Resources } = only(facts.withParameters).template
    const isUsed = JSON.stringify(Resources).includes(`{"Ref":"Their${name.replaceAll('.', '')}"}`)
    // A zone is known by its id.
    expect(isUsed).toBe(name !== 'domain.hostedZone.name')
  })

  test('puts no number in the place of one that only the deployment knows', () => {
    expect(JSON.stringify(only(facts.withParameters).template)).not.toMatch(/Token\[|e\+(2|3)\d\d/)
  })

  test('takes the default for a property that is undefined', () => {
    const { Resources } = only(facts.undefinedProps).template
    const chat = Object.entries(Resources).find(([id]) => /^GatewayFunctionsChat[0-9A-F]{8}$/.test(id))
    expect(chat?.[1].Properties.MemorySize).toBe(192)
  })

  test.each([
    ['two in a stack', "The stack 'One' has a Waybill already"],
    ['two of a name', "has the name 'dev', which the one in 'One' has in the same account and region"],
    ['a nested stack', 'is in a nested stack'],
    ['a region without Function URLs', 'Lambda has no Function URLs in eu-central-2'],
    ['no such stage', "stage: must be dev or prod, which 'test' is not"],
    ['no such setting', 'Unrecognized key: "chatMemory"'],
    ['wrong values', 'chatMemoryMb: Too small'],
    ['wrong values', 'logRetentionDays: Invalid input: expected number, received string'],
    ['wrong values', "'My Gateway' is not"],
    ['settings against each other', 'which edge: false is without'],
    ['the name local', "'local' is not"],
    ['no such catalog', 'There is no '],
    ['no catalog', 'package.json is not valid'],
    ['a table named later', 'tableNames.keys: must be the name of a table'],
  ])('refuses %s with the words: %s', (what, words) => {
    expect(facts.refused[what]).toContain(words)
  })

  test.each(['two of two names', 'properties that are undefined'])('takes %s', (what) => {
    expect(facts.refused[what]).toBeNull()
  })
})
