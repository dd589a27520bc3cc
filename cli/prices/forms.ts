import type { TokenKind } from '../../layers/gateway/domain/money/price-kinds.ts'
import { at, type Exact, fieldsAt, itemsAt, textAt } from '../reading/exact.ts'
import type { ListNames } from '../reading/known-providers.ts'

export type Wanted = { readonly names: ListNames; readonly model: string }

/** An entry of a list is not believed. */
export class Doubt extends Error {}

/** A public list of prices: how it is recognised, where a model is in it, and where its values are. Paths have dots. */
export type ListForm = {
  readonly name: string
  /** The decimals that make picocredits a token of the list's unit. */
  readonly places: number
  /** An entry at the top of such a list has one of these. */
  readonly marks: readonly string[]
  readonly find: (root: Exact, wanted: Wanted, file: string) => readonly (Exact | undefined)[]
  /** The dearest of several values for one kind holds: tokens of reasoning are output, for example. */
  readonly kinds: Readonly<Partial<Record<TokenKind, readonly string[]>>>
  readonly base: (entry: Exact) => Exact | undefined
  /** The prices of prompts of more tokens than `above`. */
  readonly tiers: (entry: Exact) => readonly { above: string | undefined; prices: Exact | undefined }[]
  readonly currencies: readonly string[]
  readonly currencyOfAll?: string
  readonly contextLength?: string
  readonly maxOutputTokens?: string
}

/** Dollars for a million tokens. `context_over_200k` is the older form of `tiers`, and stays beside them with a wrong border. */
const MODELS_DEV: ListForm = {
  name: 'models.dev',
  places: 6,
  marks: ['models'],
  find: (root, { names, model }) => [at(root, names.modelsDev, 'models', model)],
  kinds: {
    input: ['input'],
    output: ['output', 'reasoning'],
    cachedInput: ['cache_read'],
    cacheWrite: ['cache_write'],
  },
  base: (entry) => at(entry, 'cost'),
  tiers(entry) {
    const tiers = itemsAt(entry, 'cost', 'tiers')
    const older = at(entry, 'cost', 'context_over_200k')
    if (tiers.length === 0 && older !== undefined) return [{ above: '200000', prices: older }]
    if (tiers.some((tier) => textAt(tier, 'tier', 'type') !== 'context')) {
      throw new Doubt('it has a tier that is not by the length of prompts')
    }
    return tiers.map((tier) => ({ above: textAt(tier, 'tier', 'size'), prices: tier }))
  },
  currencies: ['currency', 'cost.currency'],
  contextLength: 'limit.context',
  maxOutputTokens: 'limit.output',
}

const LITELLM_TIER = /^(?:input_cost_per_token|output_cost_per_token|cache_\w+)_above_(\d{1,6})k_tokens$/

/** Dollars a token. */
export const LITELLM: ListForm = {
  name: 'LiteLLM',
  places: 12,
  marks: ['litellm_provider', 'input_cost_per_token'],
  find(root, { names: { litellm, region }, model }) {
    const prefixes = ['', ...litellm.map((name) => `${name}/`), ...(region ? [`bedrock/${region}/`] : [])]
    const isTheirs = (entry: Exact | undefined) =>
      typeof entry === 'symbol' || litellm.some((name) => name === textAt(entry, 'litellm_provider'))
    return prefixes.map((prefix) => at(root, `${prefix}${model}`)).filter(isTheirs)
  },
  kinds: {
    input: ['input_cost_per_token'],
    output: ['output_cost_per_token', 'output_cost_per_reasoning_token'],
    cachedInput: ['cache_read_input_token_cost'],
    cacheWrite: ['cache_creation_input_token_cost'],
    cacheWrite1h: ['cache_creation_input_token_cost_above_1hr'],
  },
  base: (entry) => itemsAt(entry, 'tiered_pricing')[0] ?? entry,
  tiers(entry) {
    const ranges = itemsAt(entry, 'tiered_pricing').slice(1)
    const fields = fieldsAt(entry)
    const borders = new Set(fields.flatMap(([name]) => LITELLM_TIER.exec(name)?.[1] ?? []))
    return [
      ...ranges.map((range) => ({ above: textAt(itemsAt(range, 'range')[0]), prices: range })),
      ...[...borders].map((thousands) => {
        const suffix = `_above_${thousands}k_tokens`
        const own = fields.filter(([name]) => name.endsWith(suffix))
        const prices = new Map(own.map(([name, price]) => [name.slice(0, -suffix.length), price]))
        return { above: `${thousands}000`, prices }
      }),
    ]
  },
  currencies: ['currency'],
  contextLength: 'max_input_tokens',
  maxOutputTokens: 'max_output_tokens',
}

/** Cents a token; a file for each provider, which has its name. */
const PORTKEY: ListForm = {
  name: 'Portkey',
  places: 10,
  marks: ['pricing_config'],
  find(root, { names, model }, file) {
    const isTheirs = file.replace(/\.json$/i, '').replace(/^portkey[-._]/i, '') === names.portkey
    return isTheirs && model !== 'default' ? [at(root, model)] : []
  },
  kinds: {
    input: ['request_token.price'],
    output: ['response_token.price'],
    cachedInput: ['cache_read_input_token.price'],
    cacheWrite: ['cache_write_input_token.price'],
    cacheWrite1h: ['additional_units.cache_write_1h.price'],
  },
  base: (entry) => at(entry, 'pricing_config', 'pay_as_you_go'),
  tiers(entry) {
    const custom = at(entry, 'custom_pricing')
    const byName = at(custom, 'regions', 'default', 'execution_modes', 'standard', 'context_tiers')
    const borders = fieldsAt(custom, 'context_tier_map').filter(([above]) => above !== '0')
    return borders.map(([above, name]) => ({
      above,
      prices: at(byName, textAt(name) ?? '', 'pricing_config', 'pay_as_you_go'),
    }))
  },
  currencies: ['currency', 'pricing_config.currency'],
  currencyOfAll: 'default.pricing_config.currency',
}

export const LIST_FORMS: readonly ListForm[] = [MODELS_DEV, LITELLM, PORTKEY]
