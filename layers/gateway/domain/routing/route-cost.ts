import type { Nano } from '../money/money.ts'
import { isFree, lossPrice, type Price, parsePrice } from '../money/price.ts'
import { askedTier, type PricedRequest, worstCaseOf, worstCostOf } from '../money/priced-request.ts'
import type { UpstreamRoute } from './catalog.ts'

export type Candidate = {
  readonly route: UpstreamRoute
  readonly outputCap: number
  readonly allowFields: readonly string[]
  readonly fallbackModel?: string
}

/** The price that we are billed at a route; without a `cost` it counts as costing the price of its model. */
export function costPriceOf({ route, fallbackModel }: Candidate, { model, catalog }: PricedRequest): Price {
  if (route.cost) return parsePrice(route.cost)
  return ((fallbackModel !== undefined && catalog.models.get(fallbackModel)) || model).tokenPrice
}

export function worstCostAt(candidate: Candidate, priced: PricedRequest): Nano {
  return worstCostOf(costPriceOf(candidate, priced), worstCaseAt(candidate, priced))
}

/** The most that this request may cost us at a route beyond its charge; 0 if the route costs no more than is paid. */
export function worstLossAt(candidate: Candidate, priced: PricedRequest): Nano {
  const loss = lossPrice(costPriceOf(candidate, priced), priced.model.tokenPrice, askedTier(priced))
  return loss ? worstCostOf(loss, worstCaseAt(candidate, priced)) : 0n
}

/** A free model is not answered by one that costs something, unless the catalog names it for that. */
export function isAllowedFallback(candidate: Candidate, priced: PricedRequest): boolean {
  const { fallbackModel } = candidate
  if (fallbackModel === undefined || !isFree(priced.model.tokenPrice)) return true
  return isFree(costPriceOf(candidate, priced)) || priced.model.paidFallback?.includes(fallbackModel) === true
}

const worstCaseAt = ({ outputCap }: Candidate, priced: PricedRequest) => worstCaseOf({ ...priced, outputCap })
