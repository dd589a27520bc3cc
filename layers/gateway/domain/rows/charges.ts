import type { Nano } from '../money/money.ts'
import {
  type BillLine,
  billLines,
  countOf,
  isStated,
  parsePrice,
  type Quantities,
  roundUp,
  sumOf,
} from '../money/price.ts'
import { PRICE_ROWS, type PriceRow } from '../money/price-kinds.ts'
import type { UsageRow } from './usage-row.ts'

type Line = PriceRow['line']
/** The units of each line of bills, and the credits that were charged for them. */
export type Charges = Readonly<Record<`${Line} units`, number> & Record<`${Line} charge`, Nano>>
export const NO_CHARGES = Object.fromEntries(
  PRICE_ROWS.flatMap(({ line }) => [[`${line} units`, 0] as const, [`${line} charge`, 0n] as const]),
) as Charges

/** Together they are the row's cost, also where that is its hold and not its bill. */
export function chargesOf(row: UsageRow): Partial<Charges> {
  const charges: Record<string, number | Nano> = {}
  let [pico, before] = [0n, 0n]
  for (const { kind, count, amountPico } of (row.usageSource !== 'none' && billOf(row)) || []) {
    pico += amountPico
    const through = roundUp(pico) < row.cost ? roundUp(pico) : row.cost
    charges[`${kind} units`] = count
    charges[`${kind} charge`] = through - before
    before = through
  }
  return charges
}

/** The bill that follows from a row's own tokens and price; undefined if it does not have them, or they are damaged. */
export function billOf(row: UsageRow): readonly BillLine[] | undefined {
  const { price } = row
  if (!price || !isStated(price) || !hasSoundTokens(row)) return undefined
  return billLines(parsePrice(price), quantitiesOf(row))
}

/** The sum of that bill, or the hold if it is less. */
export function expectedCost(row: UsageRow): Nano | undefined {
  const bill = billOf(row)
  const cost = bill && roundUp(sumOf(bill))
  return cost === undefined || cost < row.hold ? cost : row.hold
}

/** The quantities that a row was billed for. Counts that were zero are not in it. */
export function quantitiesOf(row: UsageRow): Quantities {
  const counts = PRICE_ROWS.flatMap(({ quantity, field }) => (quantity && field ? [[quantity, row[field] ?? 0]] : []))
  return Object.fromEntries(counts)
}

export function hasSoundTokens(row: UsageRow): boolean {
  const quantities = quantitiesOf(row)
  const { reasoningTokens: reasoning = 0 } = row
  const counts = [...Object.values(quantities), reasoning]
  const areCounts = counts.every((count) => Number.isSafeInteger(count) && count >= 0)
  const areParts = PRICE_ROWS.every((kind) => countOf(kind, quantities) >= 0)
  return areCounts && areParts && reasoning <= quantities.completion
}
