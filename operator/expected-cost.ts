import type { Nano } from '../layers/gateway/domain/money.ts'
import { costOf, isPrice, parsePrice, type StatedPrice } from '../layers/gateway/domain/price.ts'
import type { UsageRow } from '../layers/gateway/domain/usage-row.ts'

/** What a row should cost by its own tokens, price and hold; undefined if it does not say. */
export function expectedCost(row: UsageRow): Nano | undefined {
  const { price, hold } = row
  if (!price || !isStated(price) || !hasSoundTokens(row)) return undefined
  const tokens = { prompt: row.promptTokens, cached: row.cachedTokens, completion: row.completionTokens }
  const cost = costOf(parsePrice(price), tokens)
  return cost < hold ? cost : hold
}

export function isStated({ input, output, cachedInput }: StatedPrice): boolean {
  return [input, output, cachedInput].every((part) => typeof part === 'string' && isPrice(part))
}

export function hasSoundTokens({ promptTokens, completionTokens, cachedTokens }: UsageRow): boolean {
  const areCounts = [promptTokens, completionTokens, cachedTokens].every(
    (count) => Number.isSafeInteger(count) && count >= 0,
  )
  return areCounts && cachedTokens <= promptTokens
}
