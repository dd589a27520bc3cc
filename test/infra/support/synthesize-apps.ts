import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App, Stage as CdkStage, CfnParameter, NestedStack, Stack, type StackProps, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import cdk from '../../../cdk.json' with { type: 'json' }
import type { StageName, WaybillProps } from '../../../infra/props.ts'
import { MAY_COME_LATER } from '../../../infra/setting-table.ts'
import { WaybillStack } from '../../../infra/stack.ts'
import { releaseFiles } from '../../../infra/templates/templates.ts'
import { Waybill } from '../../../infra/waybill.ts'
import { OUTPUTS } from '../../../layers/gateway/names.ts'
import { OWN_CERTIFICATE } from '../fixtures/domains.ts'
import type { AppFacts, StackFacts } from './apps.ts'
import { refusalOf } from './refusal-of.ts'

// A process of its own: loads the CDK once, and writes what the tests of the construct need of it.
const [folder = ''] = process.argv.slice(2)
// The apps of others say where they are, or leave it to the command.
delete process.env.CDK_DEFAULT_REGION

const ACCOUNT = '123456789012'
const EVERYTHING: Omit<WaybillProps, 'stage'> = {
  ...{ alarmEmail: 'a@example.com', adminKeys: true, probe: true, usagePage: true, notices: true },
  ...{ waf: 'block', keepRowsDays: 400, monthlyBudgetUsd: 100, rollout: 'canary' },
}
const { certificateArn: __, ...ZONE } = OWN_CERTIFICATE

let apps = 0
function newApp(context: Record<string, unknown> = {}): App {
  apps += 1
  return new App({ outdir: join(folder, `app-${apps}`), context, treeMetadata: false, analyticsReporting: false })
}

const WITH_PATHS = { 'aws:cdk:enable-path-metadata': true, '@aws-cdk/core:failSynthOnValidationErrors': false }

function stacksOf(app: App): StackFacts[] {
  const assembly = app.synth()
  const all = [...assembly.stacks, ...assembly.nestedAssemblies.flatMap(({ nestedAssembly }) => nestedAssembly.stacks)]
  return all.map(({ stackName, environment, template, dependencies }) => ({
    name: stackName,
    place: `${environment.account}/${environment.region}`,
    after: dependencies
      .filter((it) => 'stackName' in it)
      .map((it) => (it as unknown as { stackName: string }).stackName),
    template,
  }))
}

/** With none of CDK's feature flags, as an app of some years ago. */
function inTheirs(props: WaybillProps, env?: StackProps['env']): StackFacts[] {
  const app = newApp(WITH_PATHS)
  new Waybill(new Stack(app, 'Assistant', env ? { env } : {}), 'Gateway', props)
  return stacksOf(app)
}

function inOurs(props: WaybillProps): StackFacts[] {
  const app = newApp({ ...cdk.context, ...WITH_PATHS })
  new WaybillStack(app, props)
  return stacksOf(app)
}

function findingsOf(props: WaybillProps, env: NonNullable<StackProps['env']>): string[] {
  const app = newApp({ ...cdk.context, ...WITH_PATHS, '@aws-cdk/core:annotationsInValidationReport': true })
  new Waybill(new Stack(app, 'Assistant', { env }), 'Gateway', props)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  const { directory } = app.synth()
  const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8'))
  type Rule = { readonly ruleName: string }
  return report.pluginReports.flatMap(({ violations }: { violations: Rule[] }) => violations.map((it) => it.ruleName))
}

/** Every setting that may be one is a parameter of the stack. */
function withParameters(): StackFacts[] {
  const app = newApp()
  const stack = new Stack(app, 'Assistant')
  const parameter = (name: string, type: string) =>
    new CfnParameter(stack, `Their${name.replaceAll('.', '')}`, { type })
  const text = (name: string) => parameter(name, 'String').valueAsString
  const isText = (name: string) => /Email|Url/.test(name)
  const plain = MAY_COME_LATER.filter((name) => !name.startsWith('domain'))
  const given = plain.map((it) => [it, isText(it) ? text(it) : parameter(it, 'Number').valueAsNumber])
  const hostedZone = { id: text('domain.hostedZone.id'), name: 'example.com' }
  const domain = { name: 'api.example.com', certificateArn: text('domain.certificateArn'), hostedZone }
  new Waybill(stack, 'Gateway', { stage: 'prod', ...Object.fromEntries(given), domain })
  return stacksOf(app)
}

/** The attributes of the outputs' names, as CloudFormation would resolve them. */
function attributes(props: WaybillProps): Record<string, unknown> {
  const stack = new Stack(newApp(), 'Assistant')
  const gateway = new Waybill(stack, 'Gateway', props)
  const nameOf = (it: unknown) => {
    const { tableName, bucketName, eventBusName, managedPolicyArn } = it as Record<string, unknown>
    return tableName ?? bucketName ?? eventBusName ?? managedPolicyArn ?? it
  }
  const named = Object.entries(OUTPUTS).map(([name, output]) => [
    output,
    (gateway as unknown as Record<string, unknown>)[name],
  ])
  return Object.fromEntries(
    named.filter(([, it]) => it !== undefined).map(([output, it]) => [output, stack.resolve(nameOf(it))]),
  )
}

function inStages(): StackFacts[] {
  const app = newApp()
  for (const [name, region] of [
    ['Beta', 'us-east-1'],
    ['Live', 'eu-west-1'],
  ] as const) {
    const stage = new CdkStage(app, name, { env: { account: ACCOUNT, region } })
    new Waybill(new Stack(stage, 'Assistant'), 'Gateway', { stage: 'prod', alarmEmail: 'a@example.com' })
  }
  return stacksOf(app)
}

const inUsEast1 = { account: ACCOUNT, region: 'us-east-1' }
const wrong = (props: object) => () => new Waybill(new Stack(newApp(), 'Assistant'), 'Gateway', props as WaybillProps)

function twoOf(name: string | undefined, isOneStack: boolean): void {
  const app = newApp()
  const first = new Stack(app, 'One')
  new Waybill(first, 'Gateway', { stage: 'dev' })
  new Waybill(isOneStack ? first : new Stack(app, 'Two'), 'Second', { stage: 'dev', name })
}

const REFUSED: Readonly<Record<string, () => unknown>> = {
  'two in a stack': () => twoOf('second', true),
  'two of a name': () => twoOf(undefined, false),
  'two of two names': () => twoOf('second', false),
  'a nested stack': () =>
    new Waybill(new NestedStack(new Stack(newApp(), 'Assistant'), 'Nested'), 'Gateway', { stage: 'dev' }),
  'a region without Function URLs': () =>
    new Waybill(new Stack(newApp(), 'Assistant', { env: { region: 'eu-central-2' } }), 'Gateway', { stage: 'dev' }),
  'no such stage': wrong({ stage: 'test' }),
  'no properties': () => new Waybill(new Stack(newApp(), 'Assistant'), 'Gateway', undefined as unknown as WaybillProps),
  'no such setting': wrong({ stage: 'dev', chatMemory: 512 }),
  'wrong values': wrong({ stage: 'dev', name: 'My Gateway', chatMemoryMb: 64, logRetentionDays: '14', waf: 'maybe' }),
  'settings against each other': wrong({ stage: 'dev', edge: false, domain: OWN_CERTIFICATE }),
  'the name local': wrong({ stage: 'dev', name: 'local' }),
  'no such catalog': wrong({ stage: 'dev', catalog: 'nowhere.json' }),
  'no catalog': wrong({ stage: 'dev', catalog: 'package.json' }),
  'a table named later': () => {
    const stack = new Stack(newApp(), 'Assistant')
    const keys = new CfnParameter(stack, 'Keys').valueAsString
    new Waybill(stack, 'Gateway', { stage: 'prod', tableNames: { keys, usage: 'usage' } })
  },
  'memory that comes later': () => {
    const stack = new Stack(newApp(), 'Assistant')
    const chatMemoryMb = new CfnParameter(stack, 'Memory', { type: 'Number' }).valueAsNumber
    new Waybill(stack, 'Gateway', { stage: 'prod', chatMemoryMb })
  },
  'properties that are undefined': wrong({ stage: 'dev', name: undefined, chatMemoryMb: undefined, domain: undefined }),
}

/** The stage as it comes, with an address for its alarms. */
function plainOf(stage: StageName): StackFacts['template'] {
  const app = newApp(cdk.context)
  new WaybillStack(app, { stage, alarmEmail: 'a@example.com' })
  return app.synth().stacks[0]?.template
}

const release = [...releaseFiles('1.2.3')].map(([name, data]) => [name, data.toString('base64')])

const facts: AppFacts = {
  plain: { dev: plainOf('dev'), prod: plainOf('prod') },
  release: Object.fromEntries(release),
  theirs: inTheirs({ stage: 'prod', ...EVERYTHING }),
  ours: inOurs({ stage: 'prod', ...EVERYTHING }),
  named: inTheirs({ stage: 'prod', name: 'my-second' }),
  abroad: inTheirs({ stage: 'prod', ...EVERYTHING, domain: ZONE }, { account: ACCOUNT, region: 'eu-west-1' }),
  inStages: inStages(),
  withParameters: withParameters(),
  undefinedProps: inTheirs({ stage: 'dev', chatMemoryMb: undefined } as unknown as WaybillProps),
  findings: [
    ...findingsOf({ stage: 'prod', ...EVERYTHING, domain: OWN_CERTIFICATE }, inUsEast1),
    ...findingsOf({ stage: 'prod', ...EVERYTHING, domain: ZONE }, { account: ACCOUNT, region: 'eu-west-1' }),
  ],
  attributes: { all: attributes({ stage: 'prod', ...EVERYTHING }), bare: attributes({ stage: 'dev', edge: false }) },
  refused: Object.fromEntries(Object.entries(REFUSED).map(([name, act]) => [name, refusalOf(act)])),
}
writeFileSync(join(folder, 'facts.json'), JSON.stringify(facts))
