import { parseCatalog } from '../../catalog/parse-catalog.ts'
import { isOwnVariable } from '../../layers/gateway/domain/catalog.ts'
import { type Exact, textAt } from '../reading/exact-json.ts'
import { KNOWN_PROVIDERS } from '../reading/known-providers.ts'
import type { Said } from './said.ts'

export type Providers = {
  /** The name of the provider that a deployment asks; undefined if it can be none, which was said. */
  nameFor(prefix: string, params: Exact | undefined, model: string): string | undefined
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

/** One provider for each address and key. */
export function openProviders({ secrets: usesSecrets, dropsFields, variableValue }: Options, said: Said): Providers {
  const names = new Map<string, string>()
  const entries: Record<string, object> = {}
  const secrets: { name: string; host: string }[] = []
  return { nameFor, entries, secrets }

  function nameFor(prefix: string, params: Exact | undefined, model: string): string | undefined {
    const at = prefix.startsWith('bedrock') ? regionOf(params, model) : addressOf(prefix, params, model)
    if (!at) return undefined
    const variable = at.baseUrl === undefined ? undefined : variableOf(prefix, params, model)
    const signature = JSON.stringify([prefix, at, variable])
    const known = names.get(signature)
    if (known !== undefined) return known
    const name = freeName(prefix.replaceAll('_', '-'))
    const entry = {
      type: KNOWN_PROVIDERS[prefix]?.type,
      ...at,
      ...(variable !== undefined && { apiKey: usesSecrets ? `secret:${name}` : `env:${variable}` }),
      ...(KNOWN_PROVIDERS[prefix]?.capField && { capField: KNOWN_PROVIDERS[prefix].capField }),
      ...(dropsFields && { unknownFields: 'drop' }),
    }
    const parsed = parseCatalog({ providers: { [name]: entry }, models: [] })
    if ('faults' in parsed) {
      for (const { path, message } of parsed.places)
        said.say(`left out, because ${path.replace(/^.*\./, '')} ${message}`, model)
      return undefined
    }
    names.set(signature, name)
    entries[name] = entry
    if (usesSecrets && variable !== undefined) secrets.push({ name, host: new URL(at.baseUrl ?? '').host })
    return name
  }

  function freeName(base: string): string {
    let name = base
    for (let i = 2; Object.hasOwn(entries, name); i++) name = `${base}-${i}`
    return name
  }

  type At = { readonly baseUrl?: string; readonly region?: string }

  function regionOf(params: Exact | undefined, model: string): At | undefined {
    const region = resolved('aws_region_name', textAt(params, 'aws_region_name'), 'AWS_REGION_NAME', model)
    return region === undefined ? undefined : { region }
  }

  /** The value of a field that is no secret, also if it is in a variable. Undefined if there is none, which was said. */
  function resolved(field: string, given: string | undefined, usual: string | undefined, model: string) {
    const [, named] = given === undefined ? [undefined, usual] : (VARIABLE.exec(given) ?? [])
    if (given !== undefined && named === undefined) return given
    if (named === undefined) return leave('must be given')
    if (!VARIABLE_NAME.test(named)) return leave('is a variable whose name cannot be one')
    const found = variableValue(named)
    return 'value' in found ? found.value : leave(`is the variable ${named}, ${found.why}`)

    function leave(why: string): undefined {
      said.say(`left out, because ${field} ${why}`, model)
    }
  }

  function addressOf(prefix: string, params: Exact | undefined, model: string): At | undefined {
    const { baseUrl, addressVariable, path = '' } = KNOWN_PROVIDERS[prefix] ?? {}
    const given = addressIn(params)
    if (given === undefined && baseUrl !== undefined) return { baseUrl }
    const address = resolved('api_base', given, addressVariable, model)?.replace(/\/+$/, '')
    if (address === undefined) return undefined
    return { baseUrl: address.endsWith(path) ? address : `${address}${path}` }
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
