import { fieldsOf, itemsOf, type JsonNode, nodeAt, textOf } from '../reading/json-nodes.ts'
import type { ListNames } from './list-names.ts'
import type { RawModel, RawPrices } from './listed.ts'

/** A public list of prices: how it is recognised, where a model is in it, and what it says of it. */
export type ListForm = {
  readonly name: string
  /** Makes picocredits a token of the list's unit. */
  readonly places: number
  /** True of an entry at the top of such a list. */
  readonly has: (entry: JsonNode) => boolean
  /** `file` is the name of the list's file. */
  readonly find: (root: JsonNode, wanted: Wanted, file: string) => readonly JsonNode[]
  readonly read: (entry: JsonNode, root: JsonNode) => RawModel
}

export type Wanted = { readonly names: ListNames; readonly model: string }

/** Dollars for a million tokens. `context_over_200k` is the older form of `tiers`, and stays beside them with a wrong border. */
const MODELS_DEV: ListForm = {
  name: 'models.dev',
  places: 6,
  has: (entry) => nodeAt(entry, 'models')?.kind === 'object',
  find: (root, { names, model }) => present(nodeAt(root, names.modelsDev, 'models', model)),
  read(entry) {
    const cost = nodeAt(entry, 'cost')
    const tiers = itemsOf(nodeAt(cost, 'tiers'))
    const older = nodeAt(cost, 'context_over_200k')
    const other = tiers.find((tier) => textOf(nodeAt(tier, 'tier', 'type')) !== 'context')
    return {
      currencies: [nodeAt(entry, 'currency'), nodeAt(cost, 'currency')],
      base: modelsDevPrices(cost),
      tiers:
        tiers.length > 0
          ? tiers.map((tier) => ({ above: textOf(nodeAt(tier, 'tier', 'size')), prices: modelsDevPrices(tier) }))
          : present(older).map((tier) => ({ above: '200000', prices: modelsDevPrices(tier) })),
      contextLength: nodeAt(entry, 'limit', 'context'),
      maxOutputTokens: nodeAt(entry, 'limit', 'output'),
      beyond: other && 'it has a tier that is not by the length of prompts',
    }
  },
}

function modelsDevPrices(cost: JsonNode | undefined): RawPrices {
  return {
    input: [nodeAt(cost, 'input')],
    output: [nodeAt(cost, 'output'), nodeAt(cost, 'reasoning')],
    cachedInput: [nodeAt(cost, 'cache_read')],
    cacheWrite: [nodeAt(cost, 'cache_write')],
  }
}

/** Dollars a token. */
export const LITELLM: ListForm = {
  name: 'LiteLLM',
  places: 12,
  has: (entry) => ['litellm_provider', 'input_cost_per_token'].some((name) => nodeAt(entry, name) !== undefined),
  find(root, { names: { litellm, region }, model }) {
    const prefixes = ['', ...litellm.map((name) => `${name}/`), ...(region ? [`bedrock/${region}/`] : [])]
    const isTheirs = (entry: JsonNode) => {
      const provider = textOf(nodeAt(entry, 'litellm_provider'))
      return entry.kind === 'twice' || litellm.some((name) => name === provider)
    }
    return prefixes.flatMap((prefix) => present(nodeAt(root, `${prefix}${model}`))).filter(isTheirs)
  },
  read(entry) {
    const ranges = itemsOf(nodeAt(entry, 'tiered_pricing'))
    const borders = new Set([...fieldsOf(entry).keys()].flatMap((name) => LITELLM_TIER.exec(name)?.[1] ?? []))
    const [first, ...later] = ranges.map((range) => ({
      above: textOf(itemsOf(nodeAt(range, 'range'))[0]),
      prices: litellmPrices(range),
    }))
    return {
      currencies: [nodeAt(entry, 'currency')],
      base: first?.prices ?? litellmPrices(entry),
      tiers: [
        ...later,
        ...[...borders].map((thousands) => ({
          above: `${thousands}000`,
          prices: litellmPrices(entry, `_above_${thousands}k_tokens`),
        })),
      ],
      contextLength: nodeAt(entry, 'max_input_tokens'),
      maxOutputTokens: nodeAt(entry, 'max_output_tokens'),
    }
  },
}

const LITELLM_TIER = /^(?:input_cost_per_token|output_cost_per_token|cache_\w+)_above_(\d{1,6})k_tokens$/

function litellmPrices(entry: JsonNode, suffix = ''): RawPrices {
  const parts = (...names: readonly string[]) => names.map((name) => nodeAt(entry, `${name}${suffix}`))
  return {
    input: parts('input_cost_per_token'),
    output: parts('output_cost_per_token', 'output_cost_per_reasoning_token'),
    cachedInput: parts('cache_read_input_token_cost'),
    cacheWrite: parts('cache_creation_input_token_cost'),
    cacheWrite1h: parts('cache_creation_input_token_cost_above_1hr'),
  }
}

/** Cents a token; a file for each provider, which has its name. */
const PORTKEY: ListForm = {
  name: 'Portkey',
  places: 10,
  has: (entry) => nodeAt(entry, 'pricing_config') !== undefined,
  find(root, { names, model }, file) {
    const isTheirs = file.replace(/\.json$/i, '').replace(/^portkey[-._]/i, '') === names.portkey
    return isTheirs && model !== 'default' ? present(nodeAt(root, model)) : []
  },
  read(entry, root) {
    const custom = nodeAt(entry, 'custom_pricing')
    const byContext = nodeAt(custom, 'regions', 'default', 'execution_modes', 'standard', 'context_tiers')
    const tiers = [...fieldsOf(nodeAt(custom, 'context_tier_map'))].filter(([above]) => above !== '0')
    return {
      currencies: [
        nodeAt(root, 'default', 'pricing_config', 'currency'),
        nodeAt(entry, 'currency'),
        nodeAt(entry, 'pricing_config', 'currency'),
      ],
      base: portkeyPrices(entry),
      tiers: tiers.map(([above, { node }]) => ({
        above,
        prices: portkeyPrices(nodeAt(byContext, textOf(node) ?? '')),
      })),
    }
  },
}

function portkeyPrices(holder: JsonNode | undefined): RawPrices {
  const prices = nodeAt(holder, 'pricing_config', 'pay_as_you_go')
  const part = (...path: readonly string[]) => [nodeAt(prices, ...path, 'price')]
  return {
    input: part('request_token'),
    output: part('response_token'),
    cachedInput: part('cache_read_input_token'),
    cacheWrite: part('cache_write_input_token'),
    cacheWrite1h: part('additional_units', 'cache_write_1h'),
  }
}

export const LIST_FORMS: readonly ListForm[] = [MODELS_DEV, LITELLM, PORTKEY]

function present(node: JsonNode | undefined): readonly JsonNode[] {
  return node === undefined ? [] : [node]
}
