import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Acknowledgment, App, Stack, Validations } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { addTables } from '../../../infra/data/tables.ts'
import { originSecrets } from '../../../infra/edge/edge.ts'
import { addFunctions } from '../../../infra/functions/functions.ts'
import { acknowledgedWildcards, invokeBedrock } from '../../../infra/rights/bedrock.ts'
import { readSeed } from '../../../infra/settings.ts'
import { WaybillStack } from '../../../infra/stack.ts'
import { stageOf } from '../../../infra/stages.ts'
import type { CatalogData } from '../../../layers/gateway/domain/routing/catalog.ts'
import type { Variant } from '../../support/assemblies.ts'
import { BEDROCK_ROUTES, catalogOf, largeCatalog } from '../fixtures/bedrock-routes.ts'
import { ABROAD, OWN_CERTIFICATE, VAULTS } from '../fixtures/domains.ts'
import { EVERYTHING } from './combinations.ts'
import { stacksOf } from './deployed-stack.ts'
import { beyond, measured } from './measure.ts'
import { type BedrockRights, type Facts, withPaths } from './synthesized.ts'

// A process of its own: loads the CDK once and writes into a folder whatever the tests need of it.
const [folder = '', isQuick] = process.argv.slice(2)
const { context } = JSON.parse(readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'))
const AS_THE_COMMAND_DOES = {
  'aws:cdk:enable-path-metadata': true,
  'aws:cdk:enable-asset-metadata': true,
  'aws:cdk:version-reporting': true,
  // The command reads the report and fails by itself.
  '@aws-cdk/core:failSynthOnValidationErrors': false,
}

/** The app as it is. It writes its cloud assembly when this process has nothing else to do. */
async function synthesize(variant: Variant, stage: string, settings: object = {}, region = 'us-east-1'): Promise<void> {
  process.env.CDK_DEFAULT_REGION = region
  process.env.WAYBILL_SETTINGS = join(folder, `${variant}.json`)
  writeFileSync(process.env.WAYBILL_SETTINGS, JSON.stringify({ [stage]: settings }))
  process.env.CDK_OUTDIR = join(folder, variant)
  process.env.CDK_CONTEXT_JSON = JSON.stringify({ ...context, ...AS_THE_COMMAND_DOES, stage })
  await import(`../../../infra/app.ts?${variant}`)
}

if (isQuick) await synthesize('dev', 'dev')
await synthesize('prod', 'prod')
await synthesize('bare', 'dev', { edge: false })
const addresses = { alarmEmail: 'operator@example.com', ticketEmail: 'desk@example.com' }
const optional = { adminKeys: true, probe: true, usagePage: true, notices: true, backup: VAULTS }
const rare = {
  otlpUrl: 'https://collector.example/otlp',
  monthlyBudgetUsd: 100,
  webhookUrl: 'https://hooks.example/waybill',
  topUpUrl: 'https://shop.example/top-up',
  seller: 'Waybill Ltd, 1 Main Street',
  currency: 'USD 2',
  keepRowsDays: 400,
  attribution: false,
  ...optional,
}
await synthesize('mailed', 'prod', { ...addresses, ...rare, ...ABROAD }, 'eu-west-1')

// One acknowledgement is forgotten.
const FORGOTTEN = 'AwsSolutions::AwsSolutions-SMG4'
const { acknowledge } = Validations.prototype
Validations.prototype.acknowledge = function acknowledgeTheRest(...rules: Acknowledgment[]) {
  return acknowledge.apply(
    this,
    rules.filter(({ id }) => id !== FORGOTTEN),
  )
}
await synthesize('forgetful', 'dev', {}, 'eu-west-1')
Validations.prototype.acknowledge = acknowledge

const lostRegion: Error | null = await synthesize('lost', 'dev', {}, 'eu-central-2').then(
  () => null,
  (error) => error,
)
delete process.env.WAYBILL_SETTINGS
delete process.env.CDK_OUTDIR
delete process.env.CDK_CONTEXT_JSON

/** The longest names that the settings take. */
const tableNames = { keys: 'k'.repeat(100), usage: 'u'.repeat(100), answers: 'a'.repeat(100) }

/** The largest stage, with so many models. */
function sizesWith(models: number) {
  const file = join(folder, `catalog-of-${models}.json`)
  writeFileSync(file, JSON.stringify(largeCatalog(models)))
  try {
    const stacks = stacksOf({ ...EVERYTHING, stage: 'prod', region: 'eu-west-1' }, file, { tableNames })
    return { beyond: stacks.flatMap(beyond), measured: stacks.flatMap(measured) }
  } catch (error) {
    return { refused: (error as Error).message }
  }
}

process.env.CDK_DEFAULT_REGION = 'us-east-1'
const facts: Facts = {
  sizes: Object.fromEntries([0, 4, 12, 50, 90, 300, 900].map((models) => [models, sizesWith(models)])),
  bedrock: Object.fromEntries(Object.entries(BEDROCK_ROUTES).map(([name, routes]) => [name, rightsFor(routes)])),
  firstCatalogHasBedrock: invokeBedrock(readSeed().catalog).length > 0,
  withoutBedrock: stackWith(catalogOf(BEDROCK_ROUTES['another provider'])),
  withBedrock: stackWith(catalogOf(BEDROCK_ROUTES['profile of us'])),
  originSecrets: [1, 2, 3].map((number) => {
    const stack = new Stack(new App())
    return stack.resolve(originSecrets(stack, number))
  }),
  withoutIpv6: Template.fromStack(
    new WaybillStack(new App(), { stage: 'dev', ipv6: false, domain: OWN_CERTIFICATE }),
  ).toJSON(),
  abroad: quietAbroad(),
  refusedRegion: lostRegion?.message ?? null,
}
writeFileSync(join(folder, 'facts.json'), JSON.stringify(facts))

/** The stacks of prod as it comes in another region. */
function quietAbroad(): Record<string, object> {
  process.env.CDK_DEFAULT_REGION = 'eu-west-1'
  const app = new App()
  new WaybillStack(app, { stage: 'prod' })
  return Object.fromEntries(app.synth().stacks.map(({ stackName, template }) => [stackName, template]))
}

function rightsFor(routes: Parameters<typeof catalogOf>[0]): BedrockRights {
  const stack = new Stack(new App())
  const catalog = catalogOf(routes)
  return {
    statements: invokeBedrock(catalog).map((statement) => withPaths(stack.resolve(statement.toStatementJson()))),
    acknowledged: acknowledgedWildcards(catalog).map(({ id }) => id),
  }
}

function stackWith(catalog: CatalogData): object {
  const stack = new Stack(new App())
  const stage = stageOf('dev')
  const tables = addTables(stack, stage)
  addFunctions(stack, { stage, tables, originSecrets: undefined, catalog })
  return Template.fromStack(stack).toJSON()
}
