import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOf, type Resource } from '../../deployed/support/template.ts'
import { assemblies, type Variant } from '../../support/assemblies.ts'
import { FUNCTIONS, type Name, pathOfFunction } from '../../support/functions.ts'
import { Template } from './template.ts'

export type Synthesized = {
  readonly template: Template
  /** Their logical ids. */
  readonly functions: Readonly<Record<Name, string>>
  readonly tables: { readonly keys: string; readonly usage: string; readonly answers: string }
}

export type Statement = {
  readonly Effect: string
  readonly Action: string | string[]
  readonly Resource: unknown
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The right to call Bedrock, and the findings of it that are acknowledged. */
export type BedrockRights = { readonly statements: readonly Statement[]; readonly acknowledged: readonly string[] }

/** The outputs of the CDK besides templates. */
export type Facts = {
  /** The app's words on a region that has not what it needs. */
  readonly refusedRegion: string | null
  /** For each of the catalogs in bedrock-routes.ts. */
  readonly bedrock: Readonly<Record<string, BedrockRights>>
  readonly firstCatalogHasBedrock: boolean
  /** Templates of the functions with a catalog of their own. */
  readonly withoutBedrock: object
  readonly withBedrock: object
  /** The secrets that CloudFront sends and functions accept, with the first number, the second and the third. */
  readonly originSecrets: readonly { readonly sent: unknown; readonly accepted: unknown }[]
  /** The template of a stage that switches IPv6 off. */
  readonly withoutIpv6: object
  /** The messages for what is no stage's name; null where there is none. */
  readonly refusedStages: readonly (string | null)[]
  /** Each setting as it comes. */
  readonly settings: readonly {
    readonly name: string
    readonly dev?: unknown
    readonly prod?: unknown
    readonly words: string
  }[]
  /** The message for the example in docs/deploy.md; null if there is none. */
  readonly documentedSettings: string | null
  /** The messages for the settings and flags in wrong-settings.ts. */
  readonly refusedSettings: readonly (string | null)[]
  readonly refusedFlags: readonly (string | null)[]
}

export async function readFacts(): Promise<Facts> {
  return JSON.parse(readFileSync(join(await assemblies(), 'facts.json'), 'utf8'))
}

const stackOf = (variant: Variant) => (variant === 'prod' || variant === 'mailed' ? 'Waybill-prod' : 'Waybill-dev')

async function readAssembly(variant: Variant, file: string) {
  return JSON.parse(readFileSync(join(await assemblies(), variant, file), 'utf8'))
}

/** The facts for `cdk deploy` about the stack besides its template. */
export async function readManifest(variant: Variant): Promise<Readonly<Record<string, unknown>>> {
  return (await readAssembly(variant, 'manifest.json')).artifacts[stackOf(variant)].properties
}

/** The stacks of the variant, with the stacks that each is deployed after. */
export async function readOrder(variant: Variant): Promise<Readonly<Record<string, readonly string[]>>> {
  type Artifact = { readonly type: string; readonly environment: string; readonly dependencies?: readonly string[] }
  const { artifacts } = (await readAssembly(variant, 'manifest.json')) as { artifacts: Record<string, Artifact> }
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack')
  const names = stacks.map(([name]) => name)
  return Object.fromEntries(
    stacks.map(([name, { dependencies = [] }]) => [name, dependencies.filter((it) => names.includes(it)).toSorted()]),
  )
}

/** A stack beside the main one, and where it is deployed to. */
export async function readBeside(variant: Variant, part: string): Promise<{ template: Template; environment: string }> {
  const name = `${stackOf(variant)}-${part}`
  const { environment } = (await readAssembly(variant, 'manifest.json')).artifacts[name]
  return { template: new Template(await readAssembly(variant, `${name}.template.json`)), environment }
}

/** The stack as `cdk synth` makes it. */
export async function synthesized(variant: Variant): Promise<Synthesized> {
  const template = new Template(await readAssembly(variant, `${stackOf(variant)}.template.json`))
  const idOf = (type: string, path: string): string => {
    const found = Object.entries(template.findResources(type)).filter(([, it]) => pathOf(it as Resource) === path)
    if (found.length !== 1 || !found[0]) throw new Error(`There are ${found.length} of ${path}.`)
    return found[0][0]
  }
  const idOfFunction = (name: Name) => idOf('AWS::Lambda::Function', pathOfFunction(name))
  const idOfTable = (name: string) => idOf('AWS::DynamoDB::GlobalTable', `Tables/${name}`)
  return {
    template,
    functions: Object.fromEntries(FUNCTIONS.map((name) => [name, idOfFunction(name)])) as Record<Name, string>,
    tables: { keys: idOfTable('Keys'), usage: idOfTable('Usage'), answers: idOfTable('Answers') },
  }
}

export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })

/** The logical id of the alias by which a function is called. */
export function liveOf({ template, functions }: Synthesized, name: Name): string {
  const found = Object.entries(template.findResources('AWS::Lambda::Alias')).filter(
    ([, { Properties }]) => Properties.FunctionName.Ref === functions[name],
  )
  if (found.length !== 1 || !found[0]) throw new Error(`There are ${found.length} aliases of ${name}.`)
  return found[0][0]
}

/** The text of an `Fn::Join`, with each reference as `<Name>`. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined } = value as Record<string, unknown>
  if (Array.isArray(joined)) return joined[1].map(textOf).join(joined[0])
  return `<${Ref ?? (attribute as string[]).join('.')}>`
}

/** The one resource of a type, besides those of the admin API, which has a test of its own. */
export function only(template: Template, type: string) {
  const found = Object.entries(template.findResources(type)).filter(([id]) => !id.startsWith('AdminApi'))
  if (found.length !== 1 || !found[0]) throw new Error(`There are ${found.length} of ${type}.`)
  return { id: found[0][0], resource: found[0][1], properties: found[0][1].Properties }
}
