import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { App, Stage as CdkStage, CfnParameter, Stack, type StackProps, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import cdk from '../../../cdk.json' with { type: 'json' }
import type { WaybillProps } from '../../../infra/props.ts'
import { MAY_COME_LATER } from '../../../infra/setting-table.ts'
import { WaybillStack } from '../../../infra/stack.ts'
import { Waybill } from '../../../infra/waybill.ts'
import { OUTPUTS } from '../../../layers/gateway/names.ts'
import type { Template } from './template.ts'

// Apps of others say where they are, or leave it to the command, which is here.
process.env.CDK_DEFAULT_REGION = 'us-east-1'
const folder = mkdtempSync(join(tmpdir(), 'waybill-apps-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

export const ACCOUNT = '123456789012'

export type StackFacts = {
  readonly name: string
  /** Its account and region. */
  readonly place: string
  /** The stacks that are deployed before it. */
  readonly after: readonly string[]
  readonly template: Template['json']
}

export function newApp(context: Record<string, unknown> = {}): App {
  const outdir = mkdtempSync(join(folder, 'app-'))
  return new App({ outdir, context, treeMetadata: false, analyticsReporting: false })
}

export const newStack = (env?: StackProps['env']) => new Stack(newApp(), 'Assistant', env ? { env } : {})

const WITH_PATHS = { 'aws:cdk:enable-path-metadata': true, '@aws-cdk/core:failSynthOnValidationErrors': false }

export function stacksOf(app: App): StackFacts[] {
  const assembly = app.synth()
  const all = [...assembly.stacks, ...assembly.nestedAssemblies.flatMap(({ nestedAssembly }) => nestedAssembly.stacks)]
  const names = new Map(all.map(({ id, stackName }) => [id, stackName]))
  return all.map(({ stackName, environment, template, dependencies }) => ({
    name: stackName,
    place: `${environment.account}/${environment.region}`,
    after: dependencies.flatMap(({ id }) => names.get(id) ?? []).toSorted(),
    template,
  }))
}

/** With none of CDK's feature flags, as an app of some years ago. */
export function inTheirs(props: WaybillProps, env?: StackProps['env']): StackFacts[] {
  const app = newApp(WITH_PATHS)
  new Waybill(new Stack(app, 'Assistant', env ? { env } : {}), 'Gateway', props)
  return stacksOf(app)
}

export function inOurs(props: WaybillProps, context: object = WITH_PATHS): StackFacts[] {
  const app = newApp({ ...cdk.context, ...context })
  new WaybillStack(app, props)
  return stacksOf(app)
}

/** The rules of cdk-nag that it breaks. */
export function findingsOf(props: WaybillProps, region: string): string[] {
  const app = newApp({ ...cdk.context, ...WITH_PATHS, '@aws-cdk/core:annotationsInValidationReport': true })
  new Waybill(new Stack(app, 'Assistant', { env: { account: ACCOUNT, region } }), 'Gateway', props)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  const { directory } = app.synth()
  const report = JSON.parse(readFileSync(join(directory, 'validation-report.json'), 'utf8'))
  type Rule = { readonly ruleName: string }
  return report.pluginReports.flatMap(({ violations }: { violations: Rule[] }) => violations.map((it) => it.ruleName))
}

/** Every setting that may be one is a parameter of the stack. */
export function withParameters(): StackFacts[] {
  const stack = newStack()
  const parameter = (name: string, type: string) =>
    new CfnParameter(stack, `Their${name.replaceAll('.', '')}`, { type })
  const text = (name: string) => parameter(name, 'String').valueAsString
  const plain = MAY_COME_LATER.filter((name) => !name.startsWith('domain'))
  const given = plain.map((it) => [it, /Email|Url/.test(it) ? text(it) : parameter(it, 'Number').valueAsNumber])
  const hostedZone = { id: text('domain.hostedZone.id'), name: 'example.com' }
  const domain = { name: 'api.example.com', certificateArn: text('domain.certificateArn'), hostedZone }
  new Waybill(stack, 'Gateway', { stage: 'prod', ...Object.fromEntries(given), domain })
  return stacksOf(stack.node.root as App)
}

/** The attributes of the outputs' names, as CloudFormation would resolve them. */
export function attributesOf(props: WaybillProps): Record<string, unknown> {
  const stack = newStack()
  const gateway = new Waybill(stack, 'Gateway', props) as unknown as Record<string, unknown>
  const nameOf = (it: unknown) => {
    const { tableName, bucketName, eventBusName, managedPolicyArn } = it as Record<string, unknown>
    return tableName ?? bucketName ?? eventBusName ?? managedPolicyArn ?? it
  }
  const named = Object.entries(OUTPUTS).map(([name, output]) => [output, gateway[name]] as const)
  return Object.fromEntries(
    named.filter(([, it]) => it !== undefined).map(([output, it]) => [output, stack.resolve(nameOf(it))]),
  )
}

export function inStages(): StackFacts[] {
  const app = newApp()
  for (const [name, region] of Object.entries({ Beta: 'us-east-1', Live: 'eu-west-1' })) {
    const stage = new CdkStage(app, name, { env: { account: ACCOUNT, region } })
    new Waybill(new Stack(stage, 'Assistant'), 'Gateway', { stage: 'prod', alarmEmail: 'a@example.com' })
  }
  return stacksOf(app)
}
