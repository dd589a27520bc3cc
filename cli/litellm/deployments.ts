import { plainLine } from '../../layers/gateway/domain/basics/plain-text.ts'
import { LITELLM } from '../prices/forms.ts'
import type { Listed } from '../prices/listed.ts'
import { readListed } from '../prices/price-list.ts'
import { at, type Exact, fieldsAt, isObject, itemsAt, textAt } from '../reading/exact-json.ts'
import { wholeNumberIn } from '../reading/exact-number.ts'
import { KNOWN_PROVIDERS } from '../reading/known-providers.ts'
import type { Providers } from './providers.ts'
import { LeftOut, type Said } from './said.ts'

/** An entry of `model_list`: one route of the model of this name. */
export type Deployment = {
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

const ENTRY = /^(model_name|litellm_params|model_info)$/
/** Prices, and names of abilities, which providers know of themselves. */
const EITHER =
  '(in|out)put_cost_per_(token|reasoning_token)(_above_\\d+k_tokens)?|cache_\\w+_token_cost\\w*|tiered_pricing|supports_\\w+'
const PARAMS = new RegExp(
  `^(model|api_base|base_url|api_key|aws_region_name|weight|order|litellm_credential_name|${EITHER})$`,
)
const INFO = new RegExp(
  `^(id|mode|max_tokens|max_input_tokens|max_output_tokens|output_vector_size|litellm_provider|${EITHER})$`,
)
const CHAT_MODES: readonly (string | undefined)[] = [undefined, 'chat', 'completion', 'responses']

/** The routes of `model_list`, and those that models have by another name. */
export function deploymentsIn(config: Exact, providers: Providers, said: Said): Deployment[] {
  const credentials: Credentials = new Map(
    itemsAt(config, 'credential_list').map((one) => [
      textAt(one, 'credential_name') ?? '',
      at(one, 'credential_values'),
    ]),
  )
  const named = itemsAt(config, 'model_list').flatMap((entry) => {
    const model = textAt(entry, 'model_name') ?? ''
    return said.unlessLeftOut(model, () => deploymentOf(model, entry, credentials, providers, said))
  })
  return [...named, ...aliased(named, at(config, 'router_settings', 'model_group_alias'), said)]
}

type Credentials = ReadonlyMap<string, Exact | undefined>

function deploymentOf(
  model: string,
  entry: Exact,
  credentials: Credentials,
  providers: Providers,
  said: Said,
): Deployment {
  const [own, info] = [at(entry, 'litellm_params'), at(entry, 'model_info')]
  const credential = textAt(own, 'litellm_credential_name')
  const params = credential === undefined ? own : together(own, credentials.get(credential))
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
  if (!CHAT_MODES.includes(mode) && !isEmbedding) {
    throw new LeftOut(`left out: the mode '${plainLine(mode ?? '', 40)}' has no counterpart`)
  }
  const provider = providers.nameFor(split.prefix, params, model)
  said.sayOthers(entry, ENTRY, '', model)
  said.sayOthers(params, PARAMS, 'litellm_params.', model)
  said.sayOthers(info, INFO, 'model_info.', model)
  const listed = readListed(LITELLM, together(params, info), null)
  if (typeof listed === 'string') said.say(`its figures are not believed (${listed})`, model)
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
    if (number === undefined && at(params, name) !== undefined)
      said.say(`litellm_params.${name} must be a whole number from ${least} to 1000`, model)
    return number
  }
}

/** LiteLLM takes some fields in either place; the first one wins. */
function together(first: Exact | undefined, second: Exact | undefined): Exact {
  return { ...(isObject(second) && second), ...(isObject(first) && first) }
}

/** Of routes, by all aliases together. */
const MOST_COPIES = 10_000

/** Each alias is a model of its own, with the routes of the other. */
function aliased(deployments: readonly Deployment[], aliases: Exact | undefined, said: Said): Deployment[] {
  const models = Map.groupBy(deployments, ({ model }) => model)
  const copies: Deployment[] = []
  for (const [alias, of] of fieldsAt(aliases)) {
    const same = models.get(textAt(of) ?? textAt(of, 'model') ?? '')
    if (same === undefined) said.say('an alias of a model that is not in the catalog is left out', alias)
    else if (models.has(alias)) said.say('an alias that is the name of a model is left out', alias)
    else if (copies.length + same.length > MOST_COPIES) said.say('further aliases are too many, and are left out')
    else copies.push(...same.map((deployment) => ({ ...deployment, model: alias })))
  }
  return copies
}

/** The provider and its model in `openai/gpt-4o`; LiteLLM knows the famous ones without the first word. */
function splitModel(model: string): { readonly prefix: string; readonly name: string } | undefined {
  const slash = model.indexOf('/')
  if (slash > 0 && Object.hasOwn(KNOWN_PROVIDERS, model.slice(0, slash))) {
    return { prefix: model.slice(0, slash), name: model.slice(slash + 1).replace(/^(converse|invoke)\//, '') }
  }
  if (slash >= 0) return undefined
  if (/^((us|eu|apac|jp|au|global)\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral)\./.test(model))
    return { prefix: 'bedrock', name: model }
  if (/^(gpt-|chatgpt-|o\d|text-embedding-)/.test(model)) return { prefix: 'openai', name: model }
  return /^claude-/.test(model) ? { prefix: 'anthropic', name: model } : undefined
}
