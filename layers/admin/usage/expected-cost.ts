import type { Nano } from '../../gateway/domain/money.ts'
import { costOf, isStated, parsePrice, type Quantities } from '../../gateway/domain/price.ts'
import type { UsageRow } from '../../gateway/domain/usage-row.ts'

/** The cost that follows from a row's own tokens, price and hold; undefined if the row does not have them. */
export function expectedCost(row: UsageRow): Nano | undefined {
  const { price, hold } = row
  if (!price || !isStated(price) || !hasSoundTokens(row)) return undefined
  const cost = costOf(parsePrice(price), quantitiesOf(row))
  return cost < hold ? cost : hold
}

/** The quantities that a row was billed for. Counts that were zero are not in it. */
export function quantitiesOf(row: UsageRow): Quantities {
  return {
    prompt: row.promptTokens,
    cached: row.cachedTokens,
    cacheWrite: row.cacheWriteTokens ?? 0,
    cacheWrite1h: row.cacheWrite1hTokens ?? 0,
    completion: row.completionTokens,
    images: row.images ?? 0,
  }
}

export function hasSoundTokens(row: UsageRow): boolean {
  const { prompt, cached, cacheWrite, cacheWrite1h, completion, images } = quantitiesOf(row)
  const reasoning = row.reasoningTokens ?? 0
  const areCounts = [prompt, cached, cacheWrite, cacheWrite1h, completion, images, reasoning].every(
    (count) => Number.isSafeInteger(count) && count >= 0,
  )
  return areCounts && cached + cacheWrite <= prompt && cacheWrite1h <= cacheWrite && reasoning <= completion
}
