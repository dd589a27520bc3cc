import type { PriceStrings } from '../../layers/gateway/domain/money/price.ts'
import { listedCost, markedUp } from '../prices/dearest.ts'
import type { Listed } from '../prices/listed.ts'
import { at, type Exact, fieldsAt, itemsAt, textAt } from '../reading/exact-json.ts'
import { type Deployment, deploymentsIn } from './deployments.ts'
import { openProviders, type Providers, requireValid } from './providers.ts'
import type { Said } from './said.ts'

export type Imported = {
  readonly catalog: { readonly $comment: string; readonly providers: object; readonly models: readonly object[] }
  /** Each model that callers cannot see yet, and what it lacks. */
  readonly needs: readonly string[]
  readonly secrets: Providers['secrets']
}

const TOP = /^(model_list|litellm_settings|router_settings|general_settings|credential_list|include)$/
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
export function importModels(config: Exact, options: ImportModelsOptions, said: Said): Imported {
  const [settings, router] = [at(config, 'litellm_settings'), at(config, 'router_settings')]
  const dropsFields = at(settings, 'drop_params') === true
  const providers = openProviders({ secrets: options.secrets, dropsFields, variableValue }, said)
  const deployments = deploymentsIn(config, providers, said)
  const needs: string[] = []
  const groups = [...Map.groupBy(deployments, ({ model }) => model)]
  const models = groups.flatMap(([id, all]) => said.unlessLeftOut(id, () => modelOf(id, all, providers, needs)))
  said.sayOthers(config, TOP, '')
  said.sayOthers(settings, /^(fallbacks|drop_params)$/, 'litellm_settings.')
  said.sayOthers(router, /^(fallbacks|model_group_alias)$/, 'router_settings.')
  said.sayOthers(at(config, 'general_settings'), /^$/, 'general_settings.')
  const fallbacks = [settings, router].flatMap((node) => itemsAt(node, 'fallbacks'))
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
    const own = textAt(config, 'environment_variables', variable)
    const value = own ?? options.environment?.[variable]
    if (value) return { value }
    return { why: options.environment ? 'which is not set' : 'whose value is read only with --env, or --env FILE' }
  }
}

function modelOf(id: string, all: readonly Deployment[], providers: Providers, needs: string[]): Model {
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
  requireValid({ providers: providers.entries, models: [model] }, /models\[0\]\./)
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

function withFallbacks(models: readonly Model[], fallbacks: readonly Exact[], said: Said): readonly object[] {
  const chats = new Set(models.filter(({ kind }) => kind !== 'embedding').map(({ id }) => id))
  const wanted = new Map<string, string[]>()
  for (const [from, ids] of fallbacks.flatMap((one) => fieldsAt(one))) {
    const to = itemsAt(ids).map((id) => textAt(id) ?? '')
    const fits = [...new Set(to)].filter((id) => id !== from && chats.has(id)).slice(0, MOST_FALLBACKS)
    if (!chats.has(from) || fits.length < to.length)
      said.say('a fallback of or to something that is not in the catalog is left out', from)
    if (chats.has(from) && fits.length > 0) wanted.set(from, fits)
  }
  return models.map((model) => (wanted.has(model.id) ? { ...model, fallback: wanted.get(model.id) } : model))
}
