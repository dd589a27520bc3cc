import { spawnSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { CfnParameter, NestedStack, Stack } from 'aws-cdk-lib'
import type { StageName, WaybillProps } from '../../infra/props.ts'
import { MAY_COME_LATER } from '../../infra/setting-table.ts'
import { releaseFiles } from '../../infra/templates/templates.ts'
import { Waybill } from '../../infra/waybill.ts'
import { OUTPUTS } from '../../layers/gateway/names.ts'
import { readDocument } from '../documents/support/markdown.ts'
import { OWN_CERTIFICATE, VAULTS } from './fixtures/domains.ts'
import {
  ACCOUNT,
  attributesOf,
  findingsOf,
  inOurs,
  inStages,
  inTheirs,
  newApp,
  newStack,
  type StackFacts,
  withParameters,
} from './support/apps.ts'
import { butForNames, differencesOf } from './support/but-for-names.ts'
import { readZip } from './support/read-zip.ts'
import type { Json } from './support/template.ts'

const EVERYTHING: WaybillProps = {
  stage: 'prod',
  alarmEmail: 'a@example.com',
  adminKeys: true,
  probe: true,
  usagePage: true,
  notices: true,
  backup: VAULTS,
  waf: 'block',
  keepRowsDays: 400,
  otlpUrl: 'https://collector.example/otlp',
  monthlyBudgetUsd: 100,
  webhookUrl: 'https://hooks.example/waybill',
  topUpUrl: 'https://shop.example/top-up',
  seller: 'Waybill Ltd, 1 Main Street',
  currency: 'USD 2',
  rollout: 'canary',
}
const { certificateArn: _, ...ZONE } = OWN_CERTIFICATE
const IN_IRELAND = { account: ACCOUNT, region: 'eu-west-1' }

const only = ([stack, ...rest]: readonly StackFacts[]): StackFacts => {
  if (!stack || rest.length > 0) throw new Error(`There are ${rest.length + 1} stacks.`)
  return stack
}

const theirs = only(inTheirs(EVERYTHING))
const parameterized = only(withParameters())

/** A value of a stack with a parameter. */
function later(type: string, propsWith: (parameter: CfnParameter) => Partial<WaybillProps>): void {
  const stack = newStack()
  new Waybill(stack, 'Gateway', { stage: 'prod', ...propsWith(new CfnParameter(stack, 'Later', { type })) })
}
const given = (props: unknown) => new Waybill(newStack(), 'Gateway', props as WaybillProps)

function twoOf(name: string | undefined, isOneStack: boolean): void {
  const app = newApp()
  const first = new Stack(app, 'One')
  new Waybill(first, 'Gateway', { stage: 'dev' })
  new Waybill(isOneStack ? first : new Stack(app, 'Two'), 'Second', { stage: 'dev', name })
}

const wrongValues = { stage: 'dev', name: 'My Gateway', chatMemoryMb: 64, logRetentionDays: '14', waf: 'maybe' }
const inNested = () => new Waybill(new NestedStack(newStack(), 'Nested'), 'Gateway', { stage: 'dev' })
const inZurich = () => new Waybill(newStack({ region: 'eu-central-2' }), 'Gateway', { stage: 'dev' })
const inNoRegion = () => {
  const { CDK_DEFAULT_REGION: here = '' } = process.env
  delete process.env.CDK_DEFAULT_REGION
  try {
    new Waybill(newStack(), 'Gateway', { stage: 'dev' })
  } finally {
    process.env.CDK_DEFAULT_REGION = here
  }
}
const tableLater = () => later('String', ({ valueAsString: keys }) => ({ tableNames: { keys, usage: 'usage' } }))
const memoryLater = () => later('Number', ({ valueAsNumber: chatMemoryMb }) => ({ chatMemoryMb }))

const OTHERS_NAME = "has the name 'dev', which the one in 'One' has in the same account and"
const NO_FIELD = "no field 'chatMemory' here; did you mean 'chatMemoryMb'?"

/** The properties that are refused, or the act. */
const inFrankfurt = () => inTheirs({ stage: 'prod', backup: VAULTS }, { account: ACCOUNT, region: 'eu-central-1' })

const REFUSED: [what: string, given: unknown, words: string][] = [
  ['two in a stack', () => twoOf('second', true), "The stack 'One' has a Waybill already"],
  ['two of a name', () => twoOf(undefined, false), OTHERS_NAME],
  ['a nested stack', inNested, 'is in a nested stack'],
  ['no region', inNoRegion, "The stack 'Assistant' has no region: set AWS_REGION, or give the stack one"],
  ['a region without Function URLs', inZurich, 'Lambda has no Function URLs in eu-central-2'],
  ['a vault beside the tables', inFrankfurt, 'The first vault of "backup" is in eu-central-1, as the gateway is'],
  ['no such stage', { stage: 'test' }, "stage: must be dev or prod, which 'test' is not"],
  ['no properties', undefined, "stage: must be dev or prod, which 'undefined' is not"],
  ['no such setting', { stage: 'dev', chatMemory: 512 }, NO_FIELD],
  ['wrong values', wrongValues, 'chatMemoryMb: must be at least 192'],
  ['wrong values', wrongValues, 'logRetentionDays: must be a number, but got'],
  ['wrong values', wrongValues, "'My Gateway' is not"],
  [
    'settings against each other',
    { stage: 'dev', edge: false, domain: OWN_CERTIFICATE },
    'which edge: false is without',
  ],
  ['the name local', { stage: 'dev', name: 'local' }, "'local' is not"],
  ['no such catalog', { stage: 'dev', catalog: 'nowhere.json' }, 'There is no '],
  ['no catalog', { stage: 'dev', catalog: 'package.json' }, 'package.json is not valid'],
  ['a table named later', tableLater, 'tableNames.keys: must be known when the template is made'],
  ['memory that comes later', memoryLater, 'chatMemoryMb: '],
]

describe('the construct in somebody else’s app', () => {
  test('makes what our own stack has, but for names, whichever feature flags the app has', () => {
    const [ofTheirs, ofOurs] = [
      { stackName: 'Assistant', path: 'Assistant/Gateway' },
      { stackName: 'Waybill-prod', path: 'Waybill-prod/Default' },
    ]
    const made = butForNames(theirs.template, ofTheirs, 'Waybill-prod')
    const expected = butForNames(only(inOurs(EVERYTHING)).template, ofOurs, 'Waybill-prod')
    expect(Object.keys(made.Resources).length).toBeGreaterThan(150)
    expect(differencesOf(made.Resources, expected.Resources)).toEqual([])
    expect(made.Outputs).toEqual(expected.Outputs)
  })

  test('has the resources that CloudFront needs in us-east-1 in stacks beside its own, in its account', () => {
    const part = (name: string) => `Assistant-${name}-eu-west-1`
    const stacks = inTheirs({ ...EVERYTHING, domain: ZONE, edgeLogs: true }, IN_IRELAND)
    const places = stacks.map(({ name, place, after }) => [name, place, after])
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
    expect(inStages().map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Beta-Assistant', 'Live-Assistant', 'Live-Assistant-firewall-eu-west-1']),
    )
  })

  test('has no finding of cdk-nag, also in a stack that names its account and region', () => {
    const findings = [
      ...findingsOf({ ...EVERYTHING, domain: OWN_CERTIFICATE }, 'us-east-1'),
      ...findingsOf({ ...EVERYTHING, domain: ZONE }, 'eu-west-1'),
    ]
    expect(findings.filter((rule) => rule.includes('AwsSolutions'))).toEqual([])
  })

  test('has its outputs as attributes', () => {
    const { Outputs } = theirs.template
    const known = Object.values<string>(OUTPUTS)
    const outputOf = (name: string) => Outputs[name]?.Value
    const { ApiUrl, ...all } = attributesOf(EVERYTHING)
    expect(ApiUrl).toEqual(outputOf('BaseUrl'))
    expect(all).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, outputOf(name)])))
    // The facts that only the command line and the stacks beside need.
    const rest = known.filter((name) => name in Outputs && !(name in all))
    expect(rest).toEqual(['RolloutApplication', 'Stage', 'Protected', 'Ipv6'])
    expect(Object.keys(attributesOf({ stage: 'dev', edge: false }))).toContain('AdminUrl')
  })

  test('is known to metrics, secrets, the dashboard and the command line by its own name', () => {
    const { template } = only(inTheirs({ stage: 'prod', name: 'my-second' }))
    const text = JSON.stringify(template)
    expect(template.Outputs.Stage.Value).toBe('my-second')
    for (const name of ['secret:waybill/my-second/*', 'Waybill-my-second-', '"waybill_my_second"']) {
      expect([name, text.includes(name)]).toEqual([name, true])
    }
    expect(text).not.toMatch(/Waybill-prod|waybill\/prod|waybill_prod/)
  })

  test.each(MAY_COME_LATER)('takes %s from a parameter', (name) => {
    const { Resources } = parameterized.template
    expect(JSON.stringify(Resources).includes(`{"Ref":"Their${name.replaceAll('.', '')}"}`)).toBe(true)
  })

  test('leaves nothing of a function to a parameter, by which it would get no new version', () => {
    const functions = Object.values(parameterized.template.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    )
    const configurations = functions.map(({ Properties: { ReservedConcurrentExecutions: _, ...rest } }) => rest)
    expect(JSON.stringify(configurations)).not.toContain('"Ref":"Their')
  })

  test('puts no number in the place of one that only the deployment knows', () => {
    expect(JSON.stringify(parameterized.template)).not.toMatch(/Token\[|e\+(2|3)\d\d/)
  })

  test('takes the default for a property that is undefined', () => {
    const props = { stage: 'dev', chatMemoryMb: undefined } as unknown as WaybillProps
    const { Resources } = only(inTheirs(props)).template
    const chat = Object.entries(Resources).find(([id]) => /^GatewayFunctionsChat[0-9A-F]{8}$/.test(id))
    expect(chat?.[1].Properties.MemorySize).toBe(192)
  })

  test.each(REFUSED)('refuses %s with words', (_, it, words) => {
    expect(typeof it === 'function' ? (it as () => void) : () => given(it)).toThrow(words)
  })

  test('takes two of two names, and properties that are undefined', () => {
    twoOf('second', false)
    given({ stage: 'dev', name: undefined, chatMemoryMb: undefined, domain: undefined })
  })
})

describe('the files of a release for those without CDK', () => {
  const release = releaseFiles('1.2.3')
  const fileOf = (name: string) => release.get(name) ?? Buffer.alloc(0)
  const templateOf = (stage: string) => JSON.parse(fileOf(`waybill-${stage}.template.json`).toString())
  /** The stage as it comes, with an address for its alarms, and without paths. */
  const plainOf = (stage: StageName) => only(inOurs({ stage, alarmEmail: 'a@example.com' }, {})).template

  test.each(['dev', 'prod'] as const)('the template of %s is our own stack, but for its parameters', (stage) => {
    const { Parameters, Resources, Outputs } = templateOf(stage)
    const plain = plainOf(stage)
    const defaultOf = (name: string) => (name === 'AlarmEmail' ? 'a@example.com' : Parameters[name].Default)
    const filledIn = (value: unknown) =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll(/\{"Ref":"(\w+)"\}/g, (ref, name) => (name in Parameters ? JSON.stringify(defaultOf(name)) : ref))
          // Functions that reserve none have no such property.
          .replaceAll(/"ReservedConcurrentExecutions":\{"Fn::If":\["\w+",(\d+),[^\]]*\]\},/g, (_, of) =>
            of === '0' ? '' : `"ReservedConcurrentExecutions":${of},`,
          )
          .replaceAll(/"Fn::Sub":"[^"]*CodeBucket[^"]*"|"Fn::Sub":"cdk-[^"]*assets[^"]*"/g, '"Bucket":""')
          .replaceAll('waybill/1.2.3/', '')
          // A version and a subscription have other ids, because of the bucket and of the address.
          .replaceAll(/(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, '$1')
          .replaceAll(/(TokenSubscription\d|aexamplecom)[0-9A-F]{8}/g, ''),
      )
    expect(differencesOf(filledIn(Resources), filledIn(plain.Resources))).toEqual([])
    expect(Outputs).toEqual(plain.Outputs)
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
    expect(fileOf(`waybill-${stage}.template.json`).length).toBeLessThan(1_000_000)
    const parameters = Object.keys(template.Parameters).filter(
      (name) => !JSON.stringify(template).includes(`"Ref":"${name}"`),
    )
    expect(parameters).toEqual(['CodeBucket'])
  })

  test('a parameter says how many executions Lambda reserves for each function, and 0 reserves none', () => {
    const { Parameters, Conditions, Resources } = templateOf('prod')
    const ofFunctions = Object.entries<Json>(Resources).flatMap(([id, { Properties }]) =>
      Properties?.ReservedConcurrentExecutions ? [[id.slice(0, -8), Properties.ReservedConcurrentExecutions]] : [],
    )
    const expected = [
      ['Chat', 0],
      ['Sweep', 2],
      ['Close', 1],
    ].map(([name, least]) => {
      const Ref = `${name}Concurrency`
      expect(Parameters[Ref]).toMatchObject({ Type: 'Number', Default: least, MinValue: 0 })
      expect(Conditions[`Reserves${name}`]).toEqual({ 'Fn::Not': [{ 'Fn::Equals': [{ Ref }, '0'] }] })
      return [`Functions${name}`, { 'Fn::If': [`Reserves${name}`, { Ref }, { Ref: 'AWS::NoValue' }] }]
    })
    expect(ofFunctions.toSorted()).toEqual(expected.toSorted())
  })

  test('the guide’s command gives the tables of prod the names of those that are left', () => {
    const [, filter = ''] = /\njq .*? '(.*)' waybill-prod/.exec(readDocument('docs/guide-cdk.md')) ?? []
    const args = ['keys', 'usage', 'answers'].flatMap((name) => ['--arg', name, `left-${name}`])
    const input = fileOf('waybill-prod.template.json')
    const { stdout, error } = spawnSync('jq', [...args, filter], { input, encoding: 'utf8', maxBuffer: 1e8 })
    // A machine without jq proves nothing here.
    if (error) return console.warn('The command is not tried: there is no jq.')
    const [before, after] = [templateOf('prod').Resources, JSON.parse(stdout).Resources]
    const named = differencesOf(before, after).map((id) => [id.slice(0, -8), after[id].Properties.TableName])
    expect(named.toSorted()).toEqual([
      ['TablesAnswers', 'left-answers'],
      ['TablesKeys', 'left-keys'],
      ['TablesUsage', 'left-usage'],
    ])
  })

  test('the archive has the code of every function and layer, under the names of the templates', () => {
    const keys = ['dev', 'prod'].flatMap((stage) => [
      ...JSON.stringify(templateOf(stage)).matchAll(/"S3Key":"([^"]+)"/g),
    ])
    const named = [...new Set(keys.map(([, key]) => key ?? ''))]
    const archives = readZip(fileOf('waybill-code.zip'))
    expect([...archives.keys()]).toEqual(named.toSorted())
    const files = named.map((name) => [...readZip(archives.get(name) ?? Buffer.alloc(0)).keys()])
    for (const list of files) expect(list.some((file) => /index\.js$|waybill-tokenizer\.js$/.test(file))).toBe(true)
    expect(files.filter((list) => list.includes('contracts.js')).length).toBeGreaterThan(0)
  })
})
