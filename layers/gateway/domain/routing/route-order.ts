import { lossPrice, parsePrice } from '../money/price.ts'
import type { PricedModel, UpstreamRoute } from './catalog.ts'

export const LONGEST_REST_MS = 5 * 60_000

export function routeKey({ provider, model }: Pick<UpstreamRoute, 'provider' | 'model'>): string {
  return `${provider}/${model}`
}

/** Routes go by priority, then by chance and weight; resting ones come last: a failing route is better than none. */
export function orderRoutes(
  routes: readonly UpstreamRoute[],
  isResting: (route: UpstreamRoute) => boolean,
  random: () => number,
): readonly UpstreamRoute[] {
  if (routes.length < 2) return routes
  const priorities = [...new Set(routes.map(({ priority }) => priority))].sort((a, b) => a - b)
  const routesAt = (priority: number) => routes.filter((route) => route.priority === priority)
  const ordered = priorities.flatMap((priority) => shuffleByWeight(routesAt(priority), random))
  return [...ordered.filter((route) => !isResting(route)), ...ordered.filter(isResting)]
}

export function pinRoutes(routes: readonly UpstreamRoute[], providers: readonly string[]): readonly UpstreamRoute[] {
  return providers.flatMap((provider, priority) =>
    routes.filter((route) => route.provider === provider).map((route) => ({ ...route, priority })),
  )
}

/** The routes that a caller of this model may choose: none on which every answer may be sold below its cost. */
export function pinnableRoutes(routes: readonly UpstreamRoute[], model: PricedModel): readonly UpstreamRoute[] {
  if (model.pinnable) return routes
  return routes.filter(({ cost }) => !cost || !lossPrice(parsePrice(cost), model.tokenPrice))
}

function shuffleByWeight(routes: readonly UpstreamRoute[], random: () => number): UpstreamRoute[] {
  const left = [...routes]
  const order: UpstreamRoute[] = []
  while (left.length > 1) {
    let point = random() * left.reduce((sum, { weight }) => sum + weight, 0)
    const at = left.findIndex(({ weight }) => {
      point -= weight
      return point < 0
    })
    order.push(...left.splice(Math.max(0, at), 1))
  }
  return [...order, ...left]
}
