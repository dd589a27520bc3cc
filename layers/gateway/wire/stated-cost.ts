import type { JsonObject } from '../domain/json-object.ts'
import type { Nano } from '../domain/money.ts'
import { isObject } from './field-rules.ts'

/** A credit is a US dollar, where a provider says what it bills. */
const NANO_PLACES = 9
/** xAI's tick is a ten-thousand-millionth of a dollar. */
const TICK_PLACES = 10
/** More than any answer costs: a million credits. */
const MOST_NANO = 10n ** 15n
const MOST_CHARS = 40
const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** A field of the usage object, or a part of it, and how many decimals a nanocredit has in its unit. */
type Way = { readonly field: string; readonly part?: string; readonly places: number }

/** How providers state the cost of an answer: OpenRouter, Perplexity, DeepInfra, xAI. */
const WAYS: readonly Way[] = [
  { field: 'cost', places: NANO_PLACES },
  { field: 'cost', part: 'total_cost', places: NANO_PLACES },
  { field: 'estimated_cost', places: NANO_PLACES },
  { field: 'cost_in_usd_ticks', places: NANO_PLACES - TICK_PLACES },
]

/** With the sign by which OpenRouter says that its cost is its fee alone, and that the model's maker bills the rest. */
const FEE_ONLY = 'is_byok'
export const COST_FIELDS: readonly string[] = [...new Set(WAYS.map(({ field }) => field)), FEE_ONLY]

/** The cost in a provider's own usage object, rounded up; undefined if it states none that can be one. */
export function statedCost(usage: JsonObject): Nano | undefined {
  if (usage[FEE_ONLY] === true) return undefined
  for (const { field, part, places } of WAYS) {
    const value = usage[field]
    const cost = nanoOf(part !== undefined && isObject(value) ? value[part] : value, places)
    if (cost !== undefined) return cost
  }
  return undefined
}

/** The fields that may state a cost, for a dialect that puts a usage object into other words. */
export function costFields(usage: JsonObject): JsonObject {
  return Object.fromEntries(COST_FIELDS.flatMap((name) => (usage[name] == null ? [] : [[name, usage[name]]])))
}

function nanoOf(value: unknown, places: number): Nano | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value)
  const match = text.length <= MOST_CHARS ? DECIMAL.exec(text) : null
  if (!match) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  // Past these bounds a number is nothing that matters, or more than the most.
  const shift = Math.max(-2 * MOST_CHARS, Math.min(2 * MOST_CHARS, places - fraction.length + Number(exponent)))
  const divisor = 10n ** BigInt(Math.max(0, -shift))
  const nano = (BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, shift)) + divisor - 1n) / divisor
  return nano <= MOST_NANO ? nano : undefined
}
