import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { Nano } from '../../domain/money/money.ts'
import { isObject } from '../basics/field-rules.ts'

/** A credit counts as a US dollar where providers state their cost. */
const NANO_PLACES = 9
/** xAI's tick is a ten-thousand-millionth of a dollar. */
const TICK_PLACES = 10
/** More than any answer costs: a million credits. */
const MOST_NANO = 10n ** 15n
const MOST_CHARS = 40
const DECIMAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** A field of the usage object, or a part of it, and the number of decimals of a nanocredit in its unit. */
type Way = { readonly field: string; readonly part?: string; readonly places: number }

/** The ways in which providers state the cost of an answer: OpenRouter, Perplexity, DeepInfra, xAI. */
const WAYS: readonly Way[] = [
  { field: 'cost', places: NANO_PLACES },
  { field: 'cost', part: 'total_cost', places: NANO_PLACES },
  { field: 'estimated_cost', places: NANO_PLACES },
  { field: 'cost_in_usd_ticks', places: NANO_PLACES - TICK_PLACES },
]

/** The flag by which OpenRouter tells that its cost is its fee alone, and that the model's maker bills the rest. */
const FEE_ONLY = 'is_byok'
export const COST_FIELDS: readonly string[] = [...new Set(WAYS.map(({ field }) => field)), FEE_ONLY]

export function statedCost(usage: JsonObject): Nano | undefined {
  if (usage[FEE_ONLY] === true) return undefined
  for (const { field, part, places } of WAYS) {
    const value = usage[field]
    const cost = nanoOf(part !== undefined && isObject(value) ? value[part] : value, places)
    if (cost !== undefined) return cost
  }
  return undefined
}

export function costFields(usage: JsonObject): JsonObject {
  return Object.fromEntries(COST_FIELDS.flatMap((name) => (usage[name] == null ? [] : [[name, usage[name]]])))
}

function nanoOf(value: unknown, places: number): Nano | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value)
  const match = text.length <= MOST_CHARS ? DECIMAL.exec(text) : null
  if (!match) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  // Beyond these bounds a number is too small to matter, or more than the most.
  const shift = Math.max(-2 * MOST_CHARS, Math.min(2 * MOST_CHARS, places - fraction.length + Number(exponent)))
  const divisor = 10n ** BigInt(Math.max(0, -shift))
  const nano = (BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, shift)) + divisor - 1n) / divisor
  return nano <= MOST_NANO ? nano : undefined
}
