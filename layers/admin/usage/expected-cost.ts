import type { Nano } from '../../gateway/domain/money/money.ts'
import { costOf, countOf, isStated, parsePrice, type Quantities } from '../../gateway/domain/money/price.ts'
import { PRICE_ROWS } from '../../gateway/domain/money/price-kinds.ts'
import type { UsageRow } from '../../gateway/domain/rows/usage-row.ts'

/** The cost that follows from a row's own tokens, price and hold; undefined if the row does not have them. */
export function expectedCost(row: UsageRow): Nano | undefined {
  const { price, hold } = row
  if (!price || !isStated(price) || !hasSoundTokens(row)) return undefined
  const cost = costOf(parsePrice(price), quantitiesOf(row))
  return cost < hold ? cost : hold
}

/** The quantities that a row was billed for. Counts that were zero are not in it. */
export function quantitiesOf(row: UsageRow): Quantities {
  const counts = PRICE_ROWS.flatMap(({ quantity, field }) => (quantity && field ? [[quantity, row[field] ?? 0]] : []))
  return Object.fromEntries(counts)
}

export function hasSoundTokens(row: UsageRow): boolean {
  const quantities = quantitiesOf(row)
  const reasoning = row.reasoningTokens ?? 0
  const areCounts = [...Object.values(quantities), reasoning].every(
    (count) => Number.isSafeInteger(count) && count >= 0,
  )
  const areParts = PRICE_ROWS.every((kind) => countOf(kind, quantities) >= 0)
  return areCounts && areParts && reasoning <= quantities.completion
}
