import { parseCatalog } from '../../catalog/parse-catalog.ts'
import { plainLine } from '../../layers/gateway/domain/plain-text.ts'
import type { PriceStrings } from '../../layers/gateway/domain/price.ts'
import { listedCost, markedUp } from '../prices/dearest.ts'
import { LITELLM } from '../prices/forms.ts'
import { checkModel, type Listed } from '../prices/listed.ts'
import { wholeNumberIn } from '../reading/exact-number.ts'
import { fieldsOf, itemsOf, type JsonNode, type JsonObject, nodeAt, textOf } from '../reading/json-nodes.ts'
import { openProviders, type Providers } from './providers.ts'
import type { Said } from './said.ts'
import { splitModel } from './upstreams.ts'

export type Imported = {
  readonly catalog: { readonly $comment: string; readonly providers: object; readonly models: readonly object[] }
  /** Each model that callers cannot see yet, and what it lacks. */
  readonly needs: readonly string[]
  readonly secrets: Providers['secrets']
}

type Deployment = {
  readonly model: string
  readonly isEmbedding: boolean
  readonly dimensions: number | undefined
  readonly listed: Listed | undefined
  readonly route: {
    readonly provider: string
    readonly model: string
    readonly priority?: number
    readonly weight?: number
  }
}

const ENTRY = new Set(['model_name', 'litellm_params', 'model_info'])
const PARAMS = [
  ...['model', 'api_base', 'base_url', 'api_key', 'aws_region_name', 'weight', 'order'],
  'litellm_credential_name',
]
const INFO = [
  'id',
  'mode',
  'max_tokens',
  'max_input_tokens',
  'max_output_tokens',
  'output_vector_size',
  'litellm_provider',
]
const TOP = new Set([
  ...['model_list', 'litellm_settings', 'router_settings', 'general_settings'],
  ...['credential_list', 'include'],
])
/** The prices that are read, and names of abilities, which providers know of themselves. */
const READ =
  /^((in|out)put_cost_per_(token|reasoning_token)(_above_\d+k_tokens)?|cache_\w+_token_cost\w*|tiered_pricing|supports_\w+)$/
const CHAT_MODES: readonly (string | undefined)[] = [undefined, 'chat', 'completion', 'responses']

/** A price that nobody would pay, for a model that no caller can see before it has one. */
const UNKNOWN_PRICE = '1000'
const UNKNOWN_CONTEXT = 1_000_000
const UNKNOWN_OUTPUT = 100_000

export type ImportModelsOptions = {
  readonly secrets: boolean
  /** Undefined if nobody has asked to read it: a file could name a variable that holds a secret. */
  readonly environment: Readonly<Record<string, string | undefined>> | undefined
}

/** The catalog of LiteLLM's config.yaml. */
export function importModels(config: JsonNode, options: ImportModelsOptions, said: Said): Imported {
  const [settings, router] = [nodeAt(config, 'litellm_settings'), nodeAt(config, 'router_settings')]
  const drop = nodeAt(settings, 'drop_params')
  const dropsFields = drop?.kind === 'flag' && drop.text === 'true'
  const providers = openProviders({ secrets: options.secrets, dropsFields, variableValue }, said)
  const credentials = credentialsIn(config)
  const named = itemsOf(nodeAt(config, 'model_list')).flatMap(
    (entry) => deploymentOf(entry, credentials, providers, said) ?? [],
  )
  const deployments = [...named, ...aliased(named, nodeAt(router, 'model_group_alias'), said)]
  const needs: string[] = []
  const groups = [...Map.groupBy(deployments, ({ model }) => model)]
  const models = groups.flatMap(([id, all]) => modelOf(id, all, providers, needs, said) ?? [])
  said.sayOthers(config, TOP, '')
  said.sayOthers(settings, new Set(['fallbacks', 'drop_params']), 'litellm_settings.')
  said.sayOthers(router, new Set(['fallbacks', 'model_group_alias']), 'router_settings.')
  said.sayOthers(nodeAt(config, 'general_settings'), new Set(), 'general_settings.')
  const fallbacks = [settings, router].flatMap((node) => itemsOf(nodeAt(node, 'fallbacks')))
  const used = usedOf(providers.entries, models)
  return {
    catalog: {
      $comment: 'Made of a config.yaml of LiteLLM. A credit is a US dollar, and each price is the dearest cost.',
      providers: used,
      models: withFallbacks(models, fallbacks, said),
    },
    needs,
    secrets: providers.secrets.filter(({ name }) => Object.hasOwn(used, name)),
  }

  /** LiteLLM sets the variables that the file itself has. */
  function variableValue(variable: string): { readonly value: string } | { readonly why: string } {
    const own = textOf(nodeAt(nodeAt(config, 'environment_variables'), variable))
    const value = own ?? options.environment?.[variable]
    if (value) return { value }
    return { why: options.environment ? 'which is not set' : 'whose value is read only with --env, or --env FILE' }
  }
}

type Credentials = ReadonlyMap<string, JsonNode | undefined>

function credentialsIn(config: JsonNode): Credentials {
  const all = itemsOf(nodeAt(config, 'credential_list'))
  return new Map(all.map((one) => [textOf(nodeAt(one, 'credential_name')) ?? '', nodeAt(one, 'credential_values')]))
}

/** Each alias copies the routes of a model. */
const MOST_COPIES = 10_000

/** Each alias is a model of its own, with the routes of the other. */
function aliased(deployments: readonly Deployment[], aliases: JsonNode | undefined, said: Said): Deployment[] {
  const models = Map.groupBy(deployments, ({ model }) => model)
  const copies: Deployment[] = []
  for (const [alias, { node }] of fieldsOf(aliases)) {
    const same = models.get(textOf(node) ?? textOf(nodeAt(node, 'model')) ?? '')
    if (same === undefined || models.has(alias))
      said.say('an alias of something that is not in the catalog, or for something that is, is left out', alias)
    else if (copies.length + same.length > MOST_COPIES) said.say('further aliases are too many, and are left out')
    else copies.push(...same.map((deployment) => ({ ...deployment, model: alias })))
  }
  return copies
}

function deploymentOf(
  entry: JsonNode,
  credentials: Credentials,
  providers: Providers,
  said: Said,
): Deployment | undefined {
  const model = textOf(nodeAt(entry, 'model_name')) ?? ''
  const [own, info] = [nodeAt(entry, 'litellm_params'), nodeAt(entry, 'model_info')]
  const credential = textOf(nodeAt(own, 'litellm_credential_name'))
  const params = credential === undefined ? own : together(own, credentials.get(credential))
  const asked = textOf(nodeAt(params, 'model')) ?? ''
  const split = splitModel(asked)
  const mode = textOf(nodeAt(info, 'mode'))
  const isEmbedding = mode === 'embedding' || (mode === undefined && asked.includes('text-embedding-'))
  if (`${model}${asked}`.includes('*')) return leave('a wildcard has no counterpart: list its models')
  if (asked === '' || split?.name === '') return leave('litellm_params.model names no model')
  if (credential !== undefined && !credentials.has(credential)) return leave('its credential is not in credential_list')
  if (!split) return leave(`the provider of '${plainLine(asked, 60)}' is none of ours`)
  if (!CHAT_MODES.includes(mode) && !isEmbedding)
    return leave(`the mode '${plainLine(mode ?? '', 40)}' has no counterpart`)
  const provider = providers.nameFor(split.prefix, params, model)
  if (provider === undefined) return undefined
  said.sayOthers(entry, ENTRY, '', model)
  said.sayOthers(params, known(params, PARAMS), 'litellm_params.', model)
  said.sayOthers(info, known(info, INFO), 'model_info.', model)
  const listed = checkModel(LITELLM.read(together(params, info), params ?? entry), LITELLM.places)
  if (typeof listed === 'string') said.say(`its figures are not believed (${listed})`, model)
  const priority = numberAt('order', 0)
  const weight = numberAt('weight', 1)
  return {
    model,
    isEmbedding,
    dimensions: wholeNumberIn(textOf(nodeAt(info, 'output_vector_size')), 1, 100_000),
    listed: typeof listed === 'string' ? undefined : listed,
    route: { provider, model: split.name, ...(priority && { priority }), ...(weight && { weight }) },
  }

  function leave(why: string): undefined {
    said.say(`left out: ${why}`, model)
  }

  function numberAt(name: string, least: number): number | undefined {
    const node = nodeAt(params, name)
    const number = wholeNumberIn(textOf(node), least, 1000)
    if (node && number === undefined)
      said.say(`litellm_params.${name} must be a whole number from ${least} to 1000`, model)
    return number
  }
}

function known(node: JsonNode | undefined, names: readonly string[]): ReadonlySet<string> {
  return new Set([...names, ...[...fieldsOf(node).keys()].filter((name) => READ.test(name))])
}

/** LiteLLM takes prices in either; those of the parameters win. */
function together(params: JsonNode | undefined, info: JsonNode | undefined): JsonObject {
  return { kind: 'object', fields: new Map([...fieldsOf(info), ...fieldsOf(params)]), start: 0, end: 0 }
}

function modelOf(
  id: string,
  all: readonly Deployment[],
  providers: Providers,
  needs: string[],
  said: Said,
): { readonly id: string; readonly routes: readonly Deployment['route'][] } | undefined {
  const isEmbedding = all.every((one) => one.isEmbedding)
  const costs = all.map(({ listed }) => costOf(listed, isEmbedding))
  const knownCosts = costs.filter((cost) => cost !== undefined)
  const [first] = knownCosts
  const isPriced = first !== undefined && knownCosts.length === all.length
  const contextLength = most(all.map(({ listed }) => listed?.contextLength))
  const maxOutputTokens = most(all.map(({ listed }) => listed?.maxOutputTokens))
  const dimensions = all[0]?.dimensions
  const lacks = [
    ...(isPriced ? [] : ['a price']),
    ...(contextLength === undefined ? ['contextLength'] : []),
    ...(!isEmbedding && maxOutputTokens === undefined ? ['maxOutputTokens'] : []),
    ...(isEmbedding && dimensions === undefined ? ['dimensions'] : []),
  ]
  const unknown = { input: UNKNOWN_PRICE, ...(!isEmbedding && { output: UNKNOWN_PRICE }) }
  const model = {
    id,
    ...(isEmbedding && { kind: 'embedding', dimensions: dimensions ?? 1 }),
    ...(lacks.length > 0 && { active: false }),
    contextLength: contextLength ?? UNKNOWN_CONTEXT,
    ...(!isEmbedding && { maxOutputTokens: maxOutputTokens ?? UNKNOWN_OUTPUT }),
    price: isPriced ? markedUp(knownCosts, first, 0n) : unknown,
    routes: all.map(({ route }, i) => ({ ...route, ...(costs[i] && { cost: costs[i] }) })),
  }
  const parsed = parseCatalog({ providers: providers.entries, models: [model] })
  if ('faults' in parsed) {
    for (const { path, message } of parsed.places)
      said.say(`left out, because ${path.replace('models[0].', '')} ${message}`, id)
    return undefined
  }
  if (lacks.length > 0) needs.push(`${id} needs ${lacks.join(', ')}`)
  return model
}

/** 0 is no price: LiteLLM has it for models whose cost it does not know. */
function costOf(listed: Listed | undefined, isEmbedding: boolean): PriceStrings | undefined {
  if (!listed?.base.input || (!isEmbedding && !listed.base.output)) return undefined
  return listedCost(listed, isEmbedding ? { input: '0', output: '0' } : undefined, isEmbedding)
}

function most(all: readonly (number | undefined)[]): number | undefined {
  const stated = all.filter((tokens) => tokens !== undefined)
  return stated.length === all.length ? Math.max(...stated) : undefined
}

type Model = { readonly id: string; readonly routes: readonly { readonly provider: string }[]; readonly kind?: string }

function usedOf(entries: Providers['entries'], models: readonly Model[]): object {
  const used = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)))
  return Object.fromEntries(Object.entries(entries).filter(([name]) => used.has(name)))
}

const MOST_FALLBACKS = 10

function withFallbacks(models: readonly Model[], fallbacks: readonly JsonNode[], said: Said): readonly object[] {
  const chats = new Set(models.filter(({ kind }) => kind !== 'embedding').map(({ id }) => id))
  const wanted = new Map<string, string[]>()
  for (const [from, { node }] of fallbacks.flatMap((one) => [...fieldsOf(one)])) {
    const to = itemsOf(node).map((item) => textOf(item) ?? '')
    const fits = [...new Set(to)].filter((id) => id !== from && chats.has(id)).slice(0, MOST_FALLBACKS)
    if (!chats.has(from) || fits.length < to.length)
      said.say('a fallback of or to something that is not in the catalog is left out', from)
    if (chats.has(from) && fits.length > 0) wanted.set(from, fits)
  }
  return models.map((model) => (wanted.has(model.id) ? { ...model, fallback: wanted.get(model.id) } : model))
}
