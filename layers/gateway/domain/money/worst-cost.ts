import type { Nano } from './money.ts'
import { PICO_PER_NANO, type Price, type RangePrice, roundUp } from './price.ts'
import { PARTS } from './price-kinds.ts'

/** The most that a request may have, however its upstream counts the prompt within these bounds. */
export type WorstCase = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly images: number
}

/** The most expensive of the base price and every tier that the prompt can reach: an upper tier may be the cheaper one. */
export function worstCostOf(price: Price, worst: WorstCase): Nano {
  let most = 0n
  eachRange(price, worst, (range, before) => {
    const pico = before + BigInt(worst.completionTokens) * range.outputPico
    if (pico > most) most = pico
  })
  return roundUp(most)
}

/** The number of completion tokens that this balance covers beside the prompt's worst case; negative if not even that. */
export function affordableTokens(price: Price, worst: Omit<WorstCase, 'completionTokens'>, available: Nano): number {
  let fewest = Number.POSITIVE_INFINITY
  eachRange(price, worst, ({ outputPico }, before) => {
    const left = available * PICO_PER_NANO - before
    if (left < 0n) fewest = -1
    else if (outputPico > 0n) fewest = Math.min(fewest, Number(left / outputPico))
  })
  return fewest
}

/** Every service tier, and every range of prompt lengths within the bound, with the most that its longest prompt costs before an answer. */
function eachRange(
  price: Price,
  { promptTokens, images }: Omit<WorstCase, 'completionTokens'>,
  look: (range: RangePrice, beforeOutputPico: bigint) => void,
): void {
  const lookAt = (range: RangePrice, longest: number) =>
    look(range, BigInt(longest) * dearestInput(range) + range.requestPico + BigInt(images) * range.imagePico)
  for (const service of price.serviceTiers.values()) lookAt(service, promptTokens)
  let range: RangePrice = price
  for (let i = 0; ; i++) {
    const next = price.tiers[i]
    const longest = next && next.above < promptTokens ? next.above : promptTokens
    lookAt(range, longest)
    if (!next || longest === promptTokens) return
    range = next
  }
}

/** Providers write prompts to a cache, and read them from one, without being asked to. */
function dearestInput(range: RangePrice): bigint {
  let dearest = range.heldWritePico
  for (const name of ALWAYS_HELD) if (range[name] > dearest) dearest = range[name]
  return dearest
}

/** Writes are held for only where they have a price. */
const ALWAYS_HELD = ['inputPico', ...PARTS.flatMap(({ pico, times }) => (times ? [] : pico))] as const
