import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { isOwnVariable } from '../../layers/gateway/domain/routing/catalog.ts'
import { at, type Exact, textAt } from '../reading/exact.ts'
import { KNOWN_PROVIDERS } from '../reading/known-providers.ts'
import { LeftOut, type Omissions } from './omissions.ts'

export type ImportOptions = {
  readonly secrets: boolean
  /** Undefined if nobody has asked to read it: a file could name a variable that holds a secret. */
  readonly environment: Readonly<Record<string, string | undefined>> | undefined
}

export type Providers = ReturnType<typeof openProviders>

const VARIABLE = /^os\.environ\/(.*)$/s

/** A catalog that is not valid is left out. `around` is the part of a fault's path that its reader does not know. */
export function requireValid(catalog: object, around: RegExp): void {
  const parsed = parseCatalog(catalog)
  if ('catalog' in parsed) return
  const reasons = parsed.places.map(({ path, message }) => `left out, because ${path.replace(around, '')} ${message}`)
  throw new LeftOut(reasons.join('\n'))
}

/** One provider for each address and key. */
export function openProviders(config: Exact, options: ImportOptions, omissions: Omissions) {
  const dropsFields = at(config, 'litellm_settings', 'drop_params') === true
  const names = new Map<string, string>()
  const entries: Record<string, object> = {}
  const secrets: { readonly name: string; readonly host: string }[] = []
  return { nameFor, entries, secrets }

  function nameFor(prefix: string, params: Exact, model: string): string {
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
      ...(variable !== undefined && { apiKey: options.secrets ? `secret:${name}` : `env:${variable}` }),
      ...(capField && { capField }),
      ...(dropsFields && { unknownFields: 'drop' }),
    }
    requireValid({ providers: { [name]: entry }, models: [] }, /^.*\./)
    names.set(signature, name)
    entries[name] = entry
    if (options.secrets && variable !== undefined) secrets.push({ name, host: new URL(baseUrl ?? '').host })
    return name
  }

  function freeName(base: string): string {
    let name = base
    for (let i = 2; Object.hasOwn(entries, name); i++) name = `${base}-${i}`
    return name
  }

  /** The value of a field that is no secret, also if it is in a variable. LiteLLM sets those that the file itself has. */
  function resolved(field: string, given: string | undefined, usual: string | undefined): string {
    const [, named] = given === undefined ? [undefined, usual] : (VARIABLE.exec(given) ?? [])
    if (given !== undefined && named === undefined) return given
    if (named === undefined) throw new LeftOut(`left out, because ${field} must be given`)
    // Anything else may be a key that stands in the wrong place.
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(named)) {
      throw new LeftOut(`left out, because ${field} is a variable whose name cannot be one`)
    }
    const value = textAt(config, 'environment_variables', named) ?? options.environment?.[named]
    if (value) return value
    const why = options.environment ? 'which is not set' : 'whose value is read only with --env, or --env FILE'
    throw new LeftOut(`left out, because ${field} is the variable ${named}, ${why}`)
  }

  function addressOf(prefix: string, params: Exact): string {
    const { baseUrl, addressVariable, path = '' } = KNOWN_PROVIDERS[prefix] ?? {}
    const given = addressIn(params)
    if (given === undefined && baseUrl !== undefined) return baseUrl
    const address = resolved('api_base', given, addressVariable).replace(/\/+$/, '')
    return address.endsWith(path) ? address : `${address}${path}`
  }

  /** LiteLLM's own variable is for the provider's own address: its key goes nowhere else. */
  function variableOf(prefix: string, params: Exact, model: string): string | undefined {
    const { variable: usual, baseUrl } = KNOWN_PROVIDERS[prefix] ?? {}
    const given = textAt(params, 'api_key')
    const isElsewhere = baseUrl !== undefined && addressIn(params) !== undefined
    if (given === undefined) return isElsewhere ? undefined : usual
    const [, named] = VARIABLE.exec(given) ?? []
    if (named !== undefined && /^\w+$/.test(named) && !isOwnVariable(named)) return named
    const variable = isElsewhere ? `${prefix.toUpperCase()}_KEY` : (usual ?? `${prefix.toUpperCase()}_API_KEY`)
    omissions.add(`its api_key is no variable that can be used: put the key into ${variable}`, model)
    return variable
  }
}

function addressIn(params: Exact): string | undefined {
  return textAt(params, 'api_base') ?? textAt(params, 'base_url')
}
