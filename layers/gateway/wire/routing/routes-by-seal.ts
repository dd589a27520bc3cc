import type { PricedRequest } from '../../domain/money/priced-request.ts'
import { formatOf, type UpstreamRoute } from '../../domain/routing/catalog.ts'
import { pinnableRoutes, pinRoutes } from '../../domain/routing/route-order.ts'
import { sealMarkOf } from '../chat/sealed-content.ts'
import { sealsIn } from '../chat/unseal.ts'

/** More than any priority in a catalog. */
const AHEAD = 1_001

/**
 * The routes for a request with marks. The provider that sealed the latest reasoning goes first, and only readers of a
 * compaction item are asked. Marks can be forged: they choose no route that a header may not choose.
 */
export function routesBySeal({ chat, model, catalog, pinned }: PricedRequest) {
  const { reasoning, compactions, isCompacted } = sealsIn(chat)
  const isReader = ({ provider }: UpstreamRoute) =>
    formatOf(catalog.providers.get(provider)) === 'responses' &&
    compactions.every((mark) => mark === sealMarkOf(provider))
  return (routes: readonly UpstreamRoute[]): readonly UpstreamRoute[] => {
    const choosable = pinnableRoutes(routes, model)
    const isChosen = pinned !== undefined || (isCompacted && !routes.every(isReader))
    const left = (isChosen ? choosable : routes).filter((route) => !isCompacted || isReader(route))
    if (pinned) return pinRoutes(left, pinned)
    const known = new Set(choosable.map(({ provider }) => sealMarkOf(provider)))
    const latest = reasoning.findLast((mark) => known.has(mark))
    const isSealer = (route: UpstreamRoute) => sealMarkOf(route.provider) === latest && choosable.includes(route)
    return left.map((route) => (isSealer(route) ? { ...route, priority: route.priority - AHEAD } : route))
  }
}
