import { beforeAll, describe, expect, test } from '@jest/globals'
import { MAY_COME_LATER } from '../../infra/setting-table.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { type AppFacts, makeApps, type StackFacts } from './support/apps.ts'
import { butForNames, differencesOf } from './support/but-for-names.ts'
import { readZip } from './support/read-zip.ts'

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
    expect(Object.keys(made.Resources).length).toBeGreaterThan(150)
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
    expect(Object.keys(facts.attributes.bare)).toContain('AdminUrl')
  })

  test('is known to metrics, secrets, the dashboard and the command line by its own name', () => {
    const text = JSON.stringify(only(facts.named).template)
    expect(only(facts.named).template.Outputs.Stage.Value).toBe('my-second')
    for (const name of ['secret:waybill/my-second/*', 'Waybill-my-second-', '"waybill_my_second"']) {
      expect([name, text.includes(name)]).toEqual([name, true])
    }
    expect(text).not.toMatch(/Waybill-prod|waybill\/prod|waybill_prod/)
  })

  test.each(MAY_COME_LATER)('takes %s from a parameter', (name) => {
    const { Resources } = only(facts.withParameters).template
    expect(JSON.stringify(Resources).includes(`{"Ref":"Their${name.replaceAll('.', '')}"}`)).toBe(true)
  })

  test('leaves nothing of a function to a parameter, by which it would get no new version', () => {
    const functions = Object.values(only(facts.withParameters).template.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    )
    const configurations = functions.map(({ Properties: { ReservedConcurrentExecutions: _, ...rest } }) => rest)
    expect(JSON.stringify(configurations)).not.toContain('"Ref":"Their')
    expect(facts.refused['memory that comes later']).toContain('chatMemoryMb: ')
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
    ['no properties', "stage: must be dev or prod, which 'undefined' is not"],
    ['no such setting', "there is no field 'chatMemory' here; did you mean 'chatMemoryMb'?"],
    ['wrong values', 'chatMemoryMb: must be at least 192'],
    ['wrong values', 'logRetentionDays: must be a number, but got'],
    ['wrong values', "'My Gateway' is not"],
    ['settings against each other', 'which edge: false is without'],
    ['the name local', "'local' is not"],
    ['no such catalog', 'There is no '],
    ['no catalog', 'package.json is not valid'],
    ['a table named later', 'tableNames.keys: must be known when the template is made'],
  ])('refuses %s with the words: %s', (what, words) => {
    expect(facts.refused[what]).toContain(words)
  })

  test.each(['two of two names', 'properties that are undefined'])('takes %s', (what) => {
    expect(facts.refused[what]).toBeNull()
  })
})

describe('the files of a release for those without CDK', () => {
  const templateOf = (stage: string) =>
    JSON.parse(Buffer.from(facts.release[`waybill-${stage}.template.json`] ?? '', 'base64').toString())
  const code = () => readZip(Buffer.from(facts.release['waybill-code.zip'] ?? '', 'base64'))

  test.each(['dev', 'prod'] as const)('the template of %s is our own stack, but for its parameters', (stage) => {
    const { Parameters, Resources, Outputs } = templateOf(stage)
    const defaultOf = (name: string) => (name === 'AlarmEmail' ? 'a@example.com' : Parameters[name].Default)
    const filledIn = (value: unknown) =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll(/\{"Ref":"(\w+)"\}/g, (ref, name) => (name in Parameters ? JSON.stringify(defaultOf(name)) : ref))
          .replaceAll(/"Fn::Sub":"[^"]*CodeBucket[^"]*"|"Fn::Sub":"cdk-[^"]*assets[^"]*"/g, '"Bucket":""')
          .replaceAll('waybill/1.2.3/', '')
          // A version and a subscription have other ids, because of the bucket and of the address.
          .replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, '$1')
          .replaceAll(/(TokenSubscription\d|aexamplecom)[0-9A-F]{8}/g, ''),
      )
    expect(differencesOf(filledIn(Resources), filledIn(facts.plain[stage].Resources))).toEqual([])
    expect(Outputs).toEqual(facts.plain[stage].Outputs)
    expect(Parameters).toMatchObject({
      CodeBucket: {},
      AlarmEmail: {},
      ApiRequestsPerSecond: { Default: 500, MinValue: 1 },
    })
  })

  test.each(['dev', 'prod'])('%s is refused in other regions, is small enough, and needs no bootstrap', (stage) => {
    const template = templateOf(stage)
    expect(template.Rules.Region.Assertions[0].Assert).toEqual({ 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] })
    expect(JSON.stringify(template)).not.toMatch(/hnb659fds|BootstrapVersion/)
    // CloudFormation takes a template of a megabyte from a bucket.
    expect(Buffer.from(facts.release[`waybill-${stage}.template.json`] ?? '', 'base64').length).toBeLessThan(1_000_000)
    const parameters = Object.keys(template.Parameters).filter(
      (name) => !JSON.stringify(template).includes(`"Ref":"${name}"`),
    )
    expect(parameters).toEqual(['CodeBucket'])
  })

  test('the archive has the code of every function and layer, under the names of the templates', () => {
    const keys = ['dev', 'prod'].flatMap((stage) => [
      ...JSON.stringify(templateOf(stage)).matchAll(/"S3Key":"([^"]+)"/g),
    ])
    const named = [...new Set(keys.map(([, key]) => key ?? ''))]
    const archives = code()
    expect([...archives.keys()]).toEqual(named.toSorted())
    const files = named.map((name) => [...readZip(archives.get(name) ?? Buffer.alloc(0)).keys()])
    for (const list of files) expect(list.some((file) => /index\.js$|waybill-tokenizer\.js$/.test(file))).toBe(true)
    expect(files.filter((list) => list.includes('contracts.js')).length).toBeGreaterThan(0)
  })
})
