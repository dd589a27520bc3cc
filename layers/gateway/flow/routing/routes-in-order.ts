import type { PricedRequest } from '../../domain/money/priced-request.ts'
import { formatOf, type UpstreamRoute } from '../../domain/routing/catalog.ts'
import { orderRoutes, pinnableRoutes, pinRoutes } from '../../domain/routing/route-order.ts'
import { sealMarkOf, sealsIn } from '../../wire/chat/sealed-content.ts'

/** More than any priority in a catalog. */
const AHEAD = 1_001

/**
 * The routes to a model in the order in which they are asked. The provider that sealed the latest reasoning goes first, and
 * only readers of a compaction item are asked. Marks can be forged: they choose no route that a header may not choose.
 */
export function routesInOrder(
  { chat, model, catalog, pinned }: PricedRequest,
  routes: readonly UpstreamRoute[],
  isResting: (route: UpstreamRoute) => boolean,
): readonly UpstreamRoute[] {
  const { reasoning, compactions, isCompacted } = sealsIn(chat)
  const inOrder = (some: readonly UpstreamRoute[]) => orderRoutes(some, isResting, Math.random)
  if (!pinned && !isCompacted && reasoning.length === 0) return inOrder(routes)
  const isReader = ({ provider }: UpstreamRoute) =>
    formatOf(catalog.providers.get(provider)) === 'responses' &&
    compactions.every((mark) => mark === sealMarkOf(provider))
  const choosable = pinnableRoutes(routes, model)
  const isChosen = pinned !== undefined || (isCompacted && !routes.every(isReader))
  const left = (isChosen ? choosable : routes).filter((route) => !isCompacted || isReader(route))
  if (pinned) return inOrder(pinRoutes(left, pinned))
  const known = new Set(choosable.map(({ provider }) => sealMarkOf(provider)))
  const latest = reasoning.findLast((mark) => known.has(mark))
  const isSealer = (route: UpstreamRoute) => sealMarkOf(route.provider) === latest && choosable.includes(route)
  return inOrder(left.map((route) => (isSealer(route) ? { ...route, priority: route.priority - AHEAD } : route)))
}
