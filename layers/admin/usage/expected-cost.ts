import type { Nano } from '../../gateway/domain/money/money.ts'
import { costOf, isStated, parsePrice } from '../../gateway/domain/money/price.ts'
import { hasSoundTokens, quantitiesOf } from '../../gateway/domain/rows/charges.ts'
import type { UsageRow } from '../../gateway/domain/rows/usage-row.ts'

/** The cost that follows from a row's own tokens, price and hold; undefined if the row does not have them. */
export function expectedCost(row: UsageRow): Nano | undefined {
  const { price, hold } = row
  if (!price || !isStated(price) || !hasSoundTokens(row)) return undefined
  const cost = costOf(parsePrice(price), quantitiesOf(row))
  return cost < hold ? cost : hold
}
