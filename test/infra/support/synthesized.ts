import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assemblies, type Variant } from '../../support/assemblies.ts'
import { type Name, type OptionalName, pathOfFunction } from '../../support/functions.ts'
import type { Measured } from './measure.ts'
import type { Json, Template } from './template.ts'

/**
 * A stack as `cdk synth` makes it. A resource is known by its path in the construct, `Functions/Chat`, also where others
 * refer to it: `<Functions/Chat.Arn>`.
 */
export class Synthesized {
  readonly json: Template['json']
  readonly resources: Readonly<Record<string, Json>>
  readonly outputs: Readonly<Record<string, Json>>

  constructor(json: Json) {
    this.json = json
    const paths = new Map(Object.entries<Json>(json.Resources).map(([id, it]) => [id, pathOf(it) || id]))
    const plain = (value: Json) => withPaths(value, paths)
    const all = Object.entries<Json>(json.Resources).map(([id, it]) => [paths.get(id), plain(it)])
    this.resources = Object.fromEntries(all)
    const outputs = Object.entries<Json>(json.Outputs ?? {}).map(([name, { Value }]) => [name, plain(Value)])
    this.outputs = Object.fromEntries(outputs)
  }

  /** The properties of the resource at a path. */
  at(path: string): Json {
    const resource = this.resources[path]
    if (!resource) throw new Error(`There is no ${path}.`)
    return resource.Properties ?? {}
  }

  function(name: Name | OptionalName): Json {
    return this.at(pathOfFunction(name))
  }

  /** The properties of the resources of a type, by their paths. */
  of(type: string): Record<string, Json> {
    const found = Object.entries(this.resources).filter(([, { Type }]) => Type === type)
    return Object.fromEntries(found.map(([path, { Properties }]) => [path, Properties]))
  }

  /** The one resource of a type, besides those of the admin API. */
  only(type: string): Json {
    const found = Object.entries(this.of(type)).filter(([path]) => !path.startsWith('AdminApi/'))
    if (found.length !== 1 || !found[0]) throw new Error(`There are ${found.length} of ${type}.`)
    return { path: found[0][0], ...found[0][1] }
  }

  /** The rights of a role or a policy, one line for each action on each resource, in order. */
  rightsOf(path: string): string[] {
    const isOf = ({ Roles = [] }: Json) => Roles.includes(`<${path}>`)
    const own = this.of('AWS::IAM::ManagedPolicy')[path]
    const policies = own ? [own] : Object.values(this.of('AWS::IAM::Policy')).filter(isOf)
    return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap(linesOf)).toSorted()
  }
}

function pathOf({ Metadata }: Json): string {
  return (Metadata?.['aws:cdk:path'] ?? '').replace(/^[^/]+\/(Default\/)?/, '').replace(/\/Resource$/, '')
}

export function withPaths(value: Json, paths: ReadonlyMap<string, string> = new Map()): Json {
  const plain = (inner: Json): Json => withPaths(inner, paths)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined, 'Fn::GetStackOutput': output } = value
  if (output) return `<${output.OutputName} of ${output.StackName} in ${output.Region}>`
  if (Ref !== undefined) return `<${paths.get(Ref) ?? Ref}>`
  if (attribute) return `<${paths.get(attribute[0]) ?? attribute[0]}.${attribute[1]}>`
  if (joined) return joined[1].map(plain).join(joined[0])
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}

/** The leading keys of a condition are told in words, any other condition as it is. */
function linesOf({ Effect, Action, Resource, Condition }: Statement): string[] {
  const likes = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] as string[] | undefined
  const isPlain = likes !== undefined && Object.keys(Condition ?? {}).length === 1
  const items = isPlain ? `: ${likes.join(' ')}` : ` ${JSON.stringify(Condition ?? '')}`
  const where = Condition === undefined ? '' : items
  const effect = Effect === 'Allow' ? '' : `${Effect} `
  return [Action]
    .flat()
    .flatMap((action) => [Resource].flat().map((resource) => `${effect}${action} on ${resource}${where}`))
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
  /** The sizes of a stage by the number of its Bedrock models, with all that is beyond a limit of AWS, or why it was refused. */
  readonly sizes: Readonly<Record<number, { beyond?: string[]; measured?: Measured[]; refused?: string }>>
  /** Templates of the functions with a catalog of their own. */
  readonly withoutBedrock: object
  readonly withBedrock: object
  /** The secrets that CloudFront sends and functions accept, with the first number, the second and the third. */
  readonly originSecrets: readonly { readonly sent: unknown; readonly accepted: unknown }[]
  /** The templates of prod with no setting, in Ireland. */
  readonly abroad: Readonly<Record<string, object>>
  /** The template of a stage that switches IPv6 off. */
  readonly withoutIpv6: object
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

/** The stacks of the variant, with the stacks that each is deployed after, and its region if it has one of its own. */
export async function readOrder(variant: Variant): Promise<Readonly<Record<string, readonly string[]>>> {
  type Artifact = { readonly type: string; readonly environment: string; readonly dependencies?: readonly string[] }
  const { artifacts } = (await readAssembly(variant, 'manifest.json')) as { artifacts: Record<string, Artifact> }
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack')
  const names = stacks.map(([name]) => name)
  return Object.fromEntries(
    stacks.map(([name, { dependencies = [], environment }]) => [
      `${name} ${environment.split('/').at(-1)}`,
      dependencies.filter((it) => names.includes(it)).toSorted(),
    ]),
  )
}

/** A stack beside the main one. */
export async function readBeside(variant: Variant, part: string): Promise<Synthesized> {
  return new Synthesized(await readAssembly(variant, `${stackOf(variant)}-${part}.template.json`))
}

export async function synthesized(variant: Variant): Promise<Synthesized> {
  return new Synthesized(await readAssembly(variant, `${stackOf(variant)}.template.json`))
}
