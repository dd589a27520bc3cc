import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { assemblies } from '../../support/assemblies.ts'
import { BIN } from '../../support/cdk-environment.ts'
import { FUNCTIONS, type Name, type OptionalName, pathOfFunction } from '../../support/functions.ts'
import { type Role, roleOf } from './role.ts'
import { type Intrinsic, pathOf, type Resource, resolveValue, type Template } from './template.ts'

export const NODE = join(BIN, 'node')

/** The values of references in the template, which exist only in an account. */
export type Account = {
  readonly keys: string
  readonly usage: string
  readonly answers: string
  readonly originSecret: string
  readonly nextOriginSecret: string
}

export type DeployedFunction = {
  /** Its code, copied to where no node_modules of ours can be found. */
  readonly folder: string
  /** The folders of its layers, in which Node finds their packages: below /opt in Lambda. */
  readonly nodePath: string
  readonly handler: string
  readonly runtime: string
  readonly environment: Readonly<Record<string, string>>
  readonly memoryMb: number
  readonly timeoutSeconds: number
  readonly role: Role
}

/** The name of the tokenizer's function, as chat is told. */
export const TOKENIZER = 'Waybill-dev-Tokenizer'

export type Deployment = {
  readonly functions: Readonly<Record<Name, DeployedFunction>>
  /** Only a stage with these settings has them. */
  readonly optional: Readonly<Record<OptionalName, DeployedFunction>>
  /** Deletes the folders of the functions. */
  remove(): void
}

/** The functions of the stack as Lambda would have them in that account. */
export async function synthesize(account: Account): Promise<Deployment> {
  const made = await assemblies()
  const templateIn = (variant: string, stack: string): Made => {
    const out = join(made, variant)
    return { out, template: JSON.parse(readFileSync(join(out, `${stack}.template.json`), 'utf8')) }
  }
  const assets = mkdtempSync(join(tmpdir(), 'waybill-deployed-'))
  const referenceTo = (resource: Resource) => valueIn(account, resource)

  function unpack({ out }: Made, resource: Resource): string {
    const asset = resource.Metadata['aws:asset:path'] ?? ''
    cpSync(join(out, asset), join(assets, asset), { recursive: true })
    return join(assets, asset)
  }

  function deploy(from: Made, name: Name | OptionalName): DeployedFunction {
    const { template } = from
    const resource = Object.values(template.Resources).find((it) => pathOf(it) === pathOfFunction(name))
    if (!resource) throw new Error(`The template has no function ${name}.`)
    const properties = resource.Properties as FunctionProperties
    const variables = Object.entries(properties.Environment?.Variables ?? {})
    const environment = variables.map(([key, value]) => [key, resolveValue(template, value, referenceTo)])
    return {
      folder: unpack(from, resource),
      nodePath: layersOf(from, properties).join(delimiter),
      handler: properties.Handler,
      runtime: properties.Runtime,
      environment: Object.fromEntries(environment),
      memoryMb: properties.MemorySize,
      timeoutSeconds: properties.Timeout,
      role: roleOf(template, properties.Role['Fn::GetAtt'][0], referenceTo),
    }
  }

  function layersOf(from: Made, { Layers = [] }: FunctionProperties): string[] {
    return Layers.map(({ Ref }) => {
      const layer = from.template.Resources[Ref]
      if (!layer) throw new Error(`The template has no layer ${Ref}.`)
      return join(unpack(from, layer), 'nodejs', 'node_modules')
    })
  }

  const dev = templateIn('dev', 'Waybill-dev')
  const functions = Object.fromEntries(FUNCTIONS.map((name) => [name, deploy(dev, name)])) as Deployment['functions']
  const mailed = templateIn('mailed', 'Waybill-prod')
  const optional = { admin: deploy(mailed, 'admin'), probe: deploy(mailed, 'probe') }
  return { functions, optional, remove: () => rmSync(assets, { recursive: true, force: true }) }
}

/** A template, and the folder with its assets. */
type Made = { readonly out: string; readonly template: Template }

type FunctionProperties = {
  readonly Handler: string
  readonly Layers?: readonly { readonly Ref: string }[]
  readonly Runtime: string
  readonly MemorySize: number
  readonly Timeout: number
  readonly Environment?: { readonly Variables: Readonly<Record<string, Intrinsic>> }
  readonly Role: { readonly 'Fn::GetAtt': readonly [string, 'Arn'] }
}

function valueIn(account: Account, resource: Resource): string {
  const path = pathOf(resource)
  if (path === 'Tables/Keys') return account.keys
  if (path === 'Tables/Usage') return account.usage
  if (path === 'Tables/Answers') return account.answers
  if (path === 'OriginSecret1') return account.originSecret
  if (path === 'OriginSecret2') return account.nextOriginSecret
  if (path === 'Functions/Tokenizer') return TOKENIZER
  throw new Error(`A function refers to ${path}, which has no value here.`)
}
