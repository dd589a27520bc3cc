import type { Nano } from '../money/money.ts'
import { billLines, countOf, isStated, parsePrice, type Quantities, roundUp } from '../money/price.ts'
import { PRICE_ROWS } from '../money/price-kinds.ts'
import type { UsageRow } from './usage-row.ts'

/** The units of one kind of price, and the credits that were charged for them. */
export type Charge = { readonly count: number; readonly cost: Nano }
/** Their names are those of a bill's lines. */
export type Charges = Readonly<Record<string, Charge>>

/** The bill of a row in whole nanocredits. Its lines come to the row's cost, also where that is the hold and not the bill. */
export function chargesOf(row: UsageRow): Charges {
  const { price, cost, usageSource } = row
  if (!price || usageSource === 'none' || !isStated(price) || !hasSoundTokens(row)) return {}
  const charges: Record<string, Charge> = {}
  let [pico, before] = [0n, 0n]
  for (const { kind, count, amountPico } of billLines(parsePrice(price), quantitiesOf(row))) {
    pico += amountPico
    const through = roundUp(pico) < cost ? roundUp(pico) : cost
    if (count > 0) charges[kind] = { count, cost: through - before }
    before = through
  }
  return charges
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
