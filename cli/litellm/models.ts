import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import type { PriceStrings } from '../../layers/gateway/domain/money/price.ts'
import { LITELLM } from '../prices/forms.ts'
import { type Listed, listedCost, markedUp } from '../prices/listed.ts'
import { readListed } from '../prices/price-list.ts'
import { at, type Exact, fieldsAt, itemsAt, textAt } from '../reading/exact.ts'
import { KNOWN_PROVIDERS } from '../reading/known-providers.ts'
import { wholeNumberIn } from '../reading/numbers.ts'
import { LeftOut, type Omissions } from './omissions.ts'
import { type ImportOptions, openProviders, type Providers, requireValid } from './providers.ts'

/** Prices, and names of abilities, which providers know of themselves, stand in the parameters or in the information. */
const EITHER =
  '(in|out)put_cost_per_(token|reasoning_token)(_above_\\d+k_tokens)?|cache_\\w+_token_cost\\w*|tiered_pricing|supports_\\w+'
const READ = {
  '': /^(model_list|litellm_settings|router_settings|general_settings|credential_list|include)$/,
  'litellm_settings.': /^(fallbacks|drop_params)$/,
  'router_settings.': /^(fallbacks|model_group_alias)$/,
  'general_settings.': /^$/,
} as const
const READ_OF_ENTRY = /^(model_name|litellm_params|model_info)$/
const READ_OF_PARAMS = new RegExp(
  `^(model|api_base|base_url|api_key|aws_region_name|weight|order|litellm_credential_name|${EITHER})$`,
)
const READ_OF_INFO = new RegExp(
  `^(id|mode|max_tokens|max_input_tokens|max_output_tokens|output_vector_size|litellm_provider|${EITHER})$`,
)

/** A price that nobody would pay, for a model that no caller can see before it has one. */
const UNKNOWN_PRICE = '1000'
const UNKNOWN_CONTEXT = 1_000_000
const UNKNOWN_OUTPUT = 100_000

/** The catalog of LiteLLM's config.yaml. `needs` has each model that callers cannot see yet, and what it lacks. */
export function importModels(config: Exact, options: ImportOptions, omissions: Omissions) {
  const providers = openProviders(config, options, omissions)
  const needs: string[] = []
  const groups = [...Map.groupBy(deploymentsIn(config, providers, omissions), ({ model }) => model)]
  const models = groups.flatMap(([id, all]) => omissions.unlessLeftOut(id, () => modelOf(id, all, providers, needs)))
  for (const [place, known] of Object.entries(READ)) {
    omissions.addUnknown(place === '' ? config : at(config, place.slice(0, -1)), known, place)
  }
  const used = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)))
  return {
    catalog: {
      $comment: 'Made of a config.yaml of LiteLLM. A credit is a US dollar, and each price is the dearest cost.',
      providers: Object.fromEntries(Object.entries(providers.entries).filter(([name]) => used.has(name))),
      models: withFallbacks(models, config, omissions),
    },
    needs,
    secrets: providers.secrets.filter(({ name }) => used.has(name)),
  }
}

/** The routes of `model_list`, and those that models have by another name. */
function deploymentsIn(config: Exact, providers: Providers, omissions: Omissions) {
  const credentials = new Map(
    itemsAt(config, 'credential_list').map((one) => [textAt(one, 'credential_name'), at(one, 'credential_values')]),
  )
  const named = itemsAt(config, 'model_list').flatMap((entry) => {
    const model = textAt(entry, 'model_name') ?? ''
    return omissions.unlessLeftOut(model, () => deploymentOf(model, entry))
  })
  return [...named, ...aliased(named, at(config, 'router_settings', 'model_group_alias'), omissions)]

  function deploymentOf(model: string, entry: Exact) {
    const [own, info] = [at(entry, 'litellm_params'), at(entry, 'model_info')]
    const credential = textAt(own, 'litellm_credential_name')
    const params = together(own, credential === undefined ? undefined : credentials.get(credential))
    const asked = textAt(params, 'model') ?? ''
    const split = splitModel(asked)
    const mode = textAt(info, 'mode')
    const isEmbedding = mode === 'embedding' || (mode === undefined && asked.includes('text-embedding-'))
    if (`${model}${asked}`.includes('*')) throw new LeftOut('left out: a wildcard has no counterpart: list its models')
    if (asked === '' || split?.name === '') throw new LeftOut('left out: litellm_params.model names no model')
    if (credential !== undefined && !credentials.has(credential)) {
      throw new LeftOut('left out: its credential is not in credential_list')
    }
    if (!split) throw new LeftOut(`left out: the provider of '${plainLine(asked, 60)}' is none of ours`)
    if (![undefined, 'chat', 'completion', 'responses'].includes(mode) && !isEmbedding) {
      throw new LeftOut(`left out: the mode '${plainLine(mode ?? '', 40)}' has no counterpart`)
    }
    const provider = providers.nameFor(split.prefix, params, model)
    omissions.addUnknown(entry, READ_OF_ENTRY, '', model)
    omissions.addUnknown(params, READ_OF_PARAMS, 'litellm_params.', model)
    omissions.addUnknown(info, READ_OF_INFO, 'model_info.', model)
    const listed = readListed(LITELLM, together(params, info), null)
    if (typeof listed === 'string') omissions.add(`its figures are not believed (${listed})`, model)
    const [priority, weight] = [numberAt('order', 0), numberAt('weight', 1)]
    return {
      model,
      isEmbedding,
      dimensions: wholeNumberIn(textAt(info, 'output_vector_size'), 1, 100_000),
      listed: typeof listed === 'string' ? undefined : listed,
      route: { provider, model: split.name, ...(priority && { priority }), ...(weight && { weight }) },
    }

    function numberAt(name: string, least: number): number | undefined {
      const number = wholeNumberIn(textAt(params, name), least, 1000)
      if (number === undefined && at(params, name) !== undefined) {
        omissions.add(`litellm_params.${name} must be a whole number from ${least} to 1000`, model)
      }
      return number
    }
  }
}

/** LiteLLM takes some fields in either place; the first one wins. */
function together(first: Exact | undefined, second: Exact | undefined): Exact {
  return new Map([...fieldsAt(second), ...fieldsAt(first)])
}

/** Each alias is a model of its own, with the routes of the other. */
function aliased<Named extends { readonly model: string }>(
  deployments: readonly Named[],
  aliases: Exact | undefined,
  omissions: Omissions,
): Named[] {
  const models = Map.groupBy(deployments, ({ model }) => model)
  const copies: Named[] = []
  for (const [alias, of] of fieldsAt(aliases)) {
    const same = models.get(textAt(of) ?? textAt(of, 'model') ?? '')
    if (same === undefined) omissions.add('an alias of a model that is not in the catalog is left out', alias)
    else if (models.has(alias)) omissions.add('an alias that is the name of a model is left out', alias)
    else if (copies.length + same.length > 10_000) omissions.add('further aliases are too many, and are left out')
    else copies.push(...same.map((deployment) => ({ ...deployment, model: alias })))
  }
  return copies
}

/** LiteLLM knows the models of famous providers without the provider's name before them. */
const FAMOUS: readonly (readonly [prefix: string, models: RegExp])[] = [
  ['bedrock', /^((us|eu|apac|jp|au|global)\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral)\./],
  ['openai', /^(gpt-|chatgpt-|o\d|text-embedding-)/],
  ['anthropic', /^claude-/],
]

/** The provider and its model in `openai/gpt-4o`. */
function splitModel(model: string): { readonly prefix: string; readonly name: string } | undefined {
  const slash = model.indexOf('/')
  const [prefix = ''] = slash < 0 ? (FAMOUS.find(([, models]) => models.test(model)) ?? []) : [model.slice(0, slash)]
  if (!Object.hasOwn(KNOWN_PROVIDERS, prefix)) return undefined
  return { prefix, name: slash < 0 ? model : model.slice(slash + 1).replace(/^(converse|invoke)\//, '') }
}

type Deployment = ReturnType<typeof deploymentsIn>[number]

function modelOf(id: string, all: readonly Deployment[], providers: Providers, needs: string[]) {
  const isEmbedding = all.every((one) => one.isEmbedding)
  const costs = all.map(({ listed }) => costOf(listed, isEmbedding))
  const known = costs.filter((cost) => cost !== undefined)
  const price = known[0] && known.length === all.length ? markedUp(known, known[0], 0n) : undefined
  const contextLength = most(all.map(({ listed }) => listed?.contextLength))
  const maxOutputTokens = most(all.map(({ listed }) => listed?.maxOutputTokens))
  const dimensions = all[0]?.dimensions
  const needed = { 'a price': price, contextLength, ...(isEmbedding ? { dimensions } : { maxOutputTokens }) }
  const lacks = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? name : []))
  const model = {
    id,
    ...(isEmbedding && { kind: 'embedding', dimensions: dimensions ?? 1 }),
    ...(lacks.length > 0 && { active: false }),
    contextLength: contextLength ?? UNKNOWN_CONTEXT,
    ...(!isEmbedding && { maxOutputTokens: maxOutputTokens ?? UNKNOWN_OUTPUT }),
    price: price ?? { input: UNKNOWN_PRICE, ...(!isEmbedding && { output: UNKNOWN_PRICE }) },
    routes: all.map(({ route }, i) => ({ ...route, ...(costs[i] && { cost: costs[i] }) })),
  }
  requireValid({ providers: providers.entries, models: [model] }, /models\[0\]\./)
  if (lacks.length > 0) needs.push(`${id} needs ${lacks.join(', ')}`)
  return model
}

/** 0 is no price: LiteLLM has it for models whose cost it does not know. */
function costOf(listed: Listed | undefined, isEmbedding: boolean): PriceStrings | undefined {
  const { input, output } = listed?.ranges[0]?.prices ?? {}
  if (!listed || !input || (!isEmbedding && !output)) return undefined
  return listedCost(listed, isEmbedding ? { input: '0', output: '0' } : undefined, isEmbedding)
}

function most(all: readonly (number | undefined)[]): number | undefined {
  const stated = all.filter((tokens) => tokens !== undefined)
  return stated.length === all.length ? Math.max(...stated) : undefined
}

type Model = ReturnType<typeof modelOf>

function withFallbacks(models: readonly Model[], config: Exact, omissions: Omissions): readonly object[] {
  const chats = new Set(models.filter(({ kind }) => kind !== 'embedding').map(({ id }) => id))
  const wanted = new Map<string, string[]>()
  const fallbacks = ['litellm_settings', 'router_settings'].flatMap((place) => itemsAt(config, place, 'fallbacks'))
  for (const [from, ids] of fallbacks.flatMap((one) => fieldsAt(one))) {
    const to = itemsAt(ids).map((id) => textAt(id) ?? '')
    const fits = [...new Set(to)].filter((id) => id !== from && chats.has(id)).slice(0, 10)
    if (!chats.has(from) || fits.length < to.length) {
      omissions.add('a fallback of or to something that is not in the catalog is left out', from)
    }
    if (chats.has(from) && fits.length > 0) wanted.set(from, fits)
  }
  return models.map((model) => (wanted.has(model.id) ? { ...model, fallback: wanted.get(model.id) } : model))
}
