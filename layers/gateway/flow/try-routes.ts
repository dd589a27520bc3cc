import type { Catalog, UpstreamRoute } from '../domain/catalog.ts'
import type { Nano } from '../domain/money.ts'
import { parsePrice } from '../domain/price.ts'
import { type PricedRequest, worstCaseOf } from '../domain/priced-request.ts'
import { orderRoutes, pinRoutes, routeKey } from '../domain/route-order.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { worstCostOf } from '../domain/worst-cost.ts'
import type { Log } from '../log/log.ts'
import type { Provider } from '../providers/provider.ts'
import { endAttempt, type Journey } from '../request.ts'
import type { RouteHealth } from './route-health.ts'

export type DispatchDeps = {
  readonly openProvider: (catalog: Catalog, id: string) => Provider
  readonly health: RouteHealth
  readonly clock: () => number
  readonly log: Log
}

/** A route to try, and what its model takes and allows. */
export type Candidate = {
  readonly route: UpstreamRoute
  readonly outputCap: number
  readonly allowFields: readonly string[]
  readonly fallbackModel?: string
}

/** However many routes a model and its fallbacks have. Each attempt may be billed, and has its place in the row. */
const MOST_ATTEMPTS = 8

/** Asks the model's routes in order until one has answered. Throws the last route's UpstreamFailure, or one for all if all are busy. */
export async function tryRoutes<T>(
  deps: DispatchDeps,
  priced: PricedRequest,
  journey: Journey,
  signal: AbortSignal,
  ask: (provider: Provider, candidate: Candidate) => Promise<T>,
): Promise<T> {
  const { openProvider, health, clock } = deps
  const failures: UpstreamFailure[] = []
  let unsupported: UpstreamFailure | undefined
  for (const candidate of candidatesOf(priced, health, clock()).slice(0, MOST_ATTEMPTS)) {
    const { route, fallbackModel } = candidate
    // A caller must not choose a dearer model by asking for what its own has no words for.
    if (fallbackModel !== undefined && unsupported) break
    journey.attemptAtMs = clock()
    journey.attempts.push({ provider: route.provider, result: 'open', ms: 0 })
    try {
      journey.droppedFields = undefined
      const answer = await ask(openProvider(priced.catalog, route.provider), candidate)
      endAttempt(journey, 'ok', clock())
      journey.route = routeKey(route)
      journey.provider = route.provider
      journey.upstreamModel = route.model
      if (route.cost) journey.cost = route.cost
      if (fallbackModel !== undefined) journey.fallbackModel = fallbackModel
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      endAttempt(journey, error.result, clock())
      if (error.reason === 'unsupported') {
        unsupported ??= error
        continue
      }
      failures.push(error)
      if (error.reason === 'rejected') journey.provider = route.provider
      if (error.mayBeBilled) deps.log.unpaid(route.provider, worstCostAt(candidate, priced))
      if (!error.worthAnotherRoute || signal.aborted) break
      health.failed(routeKey(route), error, clock())
      deps.log.upstreamFailed(route.provider, error)
    }
  }
  const failure = allBusy(failures) ?? failures.at(-1) ?? unsupported
  throw failure ?? new UpstreamFailure('connect', `The model '${priced.model.id}' has no route.`)
}

const TOO_MANY_REQUESTS = 429

/** If every upstream that was asked has turned the request away for its rate limit, it may try again: when the first of them said. */
function allBusy(failures: readonly UpstreamFailure[]): UpstreamFailure | undefined {
  if (failures.length === 0 || failures.some(({ detail }) => detail.status !== TOO_MANY_REQUESTS)) return undefined
  const waits = failures.flatMap(({ detail }) => detail.retryAfterMs ?? [])
  return new UpstreamFailure('rate_limit', 'Every upstream of it is at its rate limit.', {
    status: TOO_MANY_REQUESTS,
    retryAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
  })
}

/** The most that an answer which nobody gets may cost us, if the catalog says what the route costs. */
function worstCostAt({ route, outputCap }: Candidate, priced: PricedRequest): Nano | undefined {
  return route.cost && worstCostOf(parsePrice(route.cost), worstCaseOf({ ...priced, outputCap }))
}

/** The model's own routes, then those of the models that may stand in for it. */
function candidatesOf(
  { model, outputCap, catalog, pinned }: PricedRequest,
  health: RouteHealth,
  nowMs: number,
): Candidate[] {
  const isResting = (route: UpstreamRoute) => health.isResting(routeKey(route), nowMs)
  const inOrder = (routes: readonly UpstreamRoute[]) =>
    orderRoutes(pinned ? pinRoutes(routes, pinned) : routes, isResting, Math.random)
  const { allowFields = [] } = model
  const own = inOrder(model.routes).map((route) => ({ route, outputCap, allowFields }))
  if (!model.fallback) return own
  const others = model.fallback.flatMap((id) => {
    const other = catalog.models.get(id)
    if (!other) return []
    const lowerCap = Math.min(outputCap, other.maxOutputTokens)
    return inOrder(other.routes).map((route) => ({ route, outputCap: lowerCap, allowFields, fallbackModel: id }))
  })
  return [...own, ...others]
}
