import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { isOwnVariable } from '../../layers/gateway/domain/routing/catalog.ts'
import { type Exact, textAt } from '../reading/exact-json.ts'
import { KNOWN_PROVIDERS } from '../reading/known-providers.ts'
import { LeftOut, type Said } from './said.ts'

export type Providers = {
  /** The name of the provider that a deployment asks. */
  nameFor(prefix: string, params: Exact | undefined, model: string): string
  readonly entries: Readonly<Record<string, object>>
  /** For `--secrets`: each secret and the host that its key is for. */
  readonly secrets: readonly { readonly name: string; readonly host: string }[]
}

type Options = {
  readonly secrets: boolean
  readonly dropsFields: boolean
  /** The value of a variable that the file names in place of an address or a region. */
  readonly variableValue: (variable: string) => { readonly value: string } | { readonly why: string }
}

const VARIABLE = /^os\.environ\/(.*)$/s
/** Anything else may be a key that stands in the wrong place. */
const VARIABLE_NAME = /^[A-Z][A-Z0-9_]{0,63}$/

/** A catalog that is not valid is left out. `around` is the part of a fault's path that its reader does not know. */
export function requireValid(catalog: object, around: RegExp): void {
  const parsed = parseCatalog(catalog)
  if ('catalog' in parsed) return
  const reasons = parsed.places.map(({ path, message }) => `left out, because ${path.replace(around, '')} ${message}`)
  throw new LeftOut(reasons.join('\n'))
}

/** One provider for each address and key. */
export function openProviders({ secrets: usesSecrets, dropsFields, variableValue }: Options, said: Said): Providers {
  const names = new Map<string, string>()
  const entries: Record<string, object> = {}
  const secrets: { name: string; host: string }[] = []
  return { nameFor, entries, secrets }

  function nameFor(prefix: string, params: Exact | undefined, model: string): string {
    const { type, capField } = KNOWN_PROVIDERS[prefix] ?? {}
    const baseUrl = type === 'bedrock' ? undefined : addressOf(prefix, params)
    const region = baseUrl ?? resolved('aws_region_name', textAt(params, 'aws_region_name'), 'AWS_REGION_NAME')
    const variable = baseUrl === undefined ? undefined : variableOf(prefix, params, model)
    const signature = JSON.stringify([prefix, region, variable])
    const known = names.get(signature)
    if (known !== undefined) return known
    const name = freeName(prefix.replaceAll('_', '-'))
    const entry = {
      type,
      ...(baseUrl === undefined ? { region } : { baseUrl }),
      ...(variable !== undefined && { apiKey: usesSecrets ? `secret:${name}` : `env:${variable}` }),
      ...(capField && { capField }),
      ...(dropsFields && { unknownFields: 'drop' }),
    }
    requireValid({ providers: { [name]: entry }, models: [] }, /^.*\./)
    names.set(signature, name)
    entries[name] = entry
    if (usesSecrets && variable !== undefined) secrets.push({ name, host: new URL(baseUrl ?? '').host })
    return name
  }

  function freeName(base: string): string {
    let name = base
    for (let i = 2; Object.hasOwn(entries, name); i++) name = `${base}-${i}`
    return name
  }

  /** The value of a field that is no secret, also if it is in a variable. */
  function resolved(field: string, given: string | undefined, usual: string | undefined): string {
    const [, named] = given === undefined ? [undefined, usual] : (VARIABLE.exec(given) ?? [])
    if (given !== undefined && named === undefined) return given
    if (named === undefined) throw new LeftOut(`left out, because ${field} must be given`)
    if (!VARIABLE_NAME.test(named)) {
      throw new LeftOut(`left out, because ${field} is a variable whose name cannot be one`)
    }
    const found = variableValue(named)
    if ('value' in found) return found.value
    throw new LeftOut(`left out, because ${field} is the variable ${named}, ${found.why}`)
  }

  function addressOf(prefix: string, params: Exact | undefined): string {
    const { baseUrl, addressVariable, path = '' } = KNOWN_PROVIDERS[prefix] ?? {}
    const given = addressIn(params)
    if (given === undefined && baseUrl !== undefined) return baseUrl
    const address = resolved('api_base', given, addressVariable).replace(/\/+$/, '')
    return address.endsWith(path) ? address : `${address}${path}`
  }

  /** LiteLLM's own variable is for the provider's own address: its key goes nowhere else. */
  function variableOf(prefix: string, params: Exact | undefined, model: string): string | undefined {
    const { variable: usual, baseUrl } = KNOWN_PROVIDERS[prefix] ?? {}
    const given = textAt(params, 'api_key')
    const isElsewhere = baseUrl !== undefined && addressIn(params) !== undefined
    if (given === undefined) return isElsewhere ? undefined : usual
    const [, named] = VARIABLE.exec(given) ?? []
    if (named !== undefined && /^\w+$/.test(named) && !isOwnVariable(named)) return named
    const variable = isElsewhere ? `${prefix.toUpperCase()}_KEY` : (usual ?? `${prefix.toUpperCase()}_API_KEY`)
    said.say(`its api_key is no variable that can be used: put the key into ${variable}`, model)
    return variable
  }
}

function addressIn(params: Exact | undefined): string | undefined {
  return textAt(params, 'api_base') ?? textAt(params, 'base_url')
}
