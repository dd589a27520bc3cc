import type { PricedRequest } from '../../domain/money/priced-request.ts'
import type { UpstreamRoute } from '../../domain/routing/catalog.ts'
import { orderRoutes, pinnableRoutes, pinRoutes } from '../../domain/routing/route-order.ts'

export type Choose = (routes: readonly UpstreamRoute[]) => readonly UpstreamRoute[]

/** Puts routes to a model in the order in which they are asked. The order by marks of sealed content is loaded then. */
export async function routeOrder(priced: PricedRequest, isResting: (route: UpstreamRoute) => boolean): Promise<Choose> {
  const { chat, model, pinned } = priced
  const choose: Choose = chat.mayBeSealed
    ? (await import('#advice')).routesBySeal(priced)
    : (routes) => (pinned ? pinRoutes(pinnableRoutes(routes, model), pinned) : routes)
  return (routes) => orderRoutes(choose(routes), isResting, Math.random)
}
