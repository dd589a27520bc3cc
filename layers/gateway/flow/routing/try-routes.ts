import { mayUseModel } from '../../domain/allowed-models.ts'
import type { Catalog, UpstreamRoute } from '../../domain/catalog.ts'
import type { Nano } from '../../domain/money.ts'
import { parsePrice } from '../../domain/price.ts'
import { type PricedRequest, worstCaseOf } from '../../domain/priced-request.ts'
import { orderRoutes, pinnableRoutes, pinRoutes, routeKey } from '../../domain/route-order.ts'
import { TOO_MANY_REQUESTS, UpstreamFailure } from '../../domain/upstream-failure.ts'
import { worstCostOf } from '../../domain/worst-cost.ts'
import type { Log } from '../../log/log.ts'
import type { Provider } from '../../providers/provider.ts'
import { endAttempt, type Journey } from '../../request.ts'
import { type RoutedRequest, type RouteHealth, witnessOf } from './route-health.ts'

export type RoutingDeps = {
  readonly openProvider: (catalog: Catalog, id: string) => Provider
  readonly health: RouteHealth
  readonly clock: () => number
  readonly log: Log
}

/** A route to try, with the limits and fields of its model. */
export type Candidate = {
  readonly route: UpstreamRoute
  readonly outputCap: number
  readonly allowFields: readonly string[]
  readonly fallbackModel?: string
}

/** For any number of routes and fallbacks. Each attempt may be billed, and is noted in the row. */
const MOST_ATTEMPTS = 8

/** Asks one route. */
export type Ask<T> = (provider: Provider, candidate: Candidate) => Promise<T>

/** Asks the model's routes in order until one has answered. Throws the last UpstreamFailure, or one for all if all are busy. */
export async function tryRoutes<T>(
  deps: RoutingDeps,
  request: RoutedRequest,
  signal: AbortSignal,
  ask: Ask<T>,
): Promise<T> {
  const { priced, journey } = request
  const { openProvider, health, clock } = deps
  const failures: UpstreamFailure[] = []
  let bound: Bound | undefined
  for (const candidate of candidatesOf(request, health, clock()).slice(0, MOST_ATTEMPTS)) {
    if (bound && isBeyond(bound, candidate, priced)) continue
    beginAttempt(journey, candidate.route, clock())
    try {
      const answer = await ask(openProvider(priced.catalog, candidate.route.provider), candidate)
      noteAnswer(journey, candidate, clock())
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      failures.push(error)
      noteFailure(deps, request, candidate, error, signal)
      if (!error.worthAnotherRoute || signal.aborted) break
      if (bound || error.blame === 'caller') bound = boundAfter(bound, candidate, priced)
    }
  }
  throw failureOf(failures, priced.model.id)
}

/**
 * The limit for a caller that has provoked a failure, for all attempts after it: the same model, at a route that costs
 * no more. A caller must not be able to choose a more expensive model or route by its request.
 */
type Bound = { readonly fallbackModel: string | undefined; readonly cost: Nano }

function boundAfter(bound: Bound | undefined, candidate: Candidate, priced: PricedRequest): Bound {
  const cost = worstCostAt(candidate, priced)
  return { fallbackModel: candidate.fallbackModel, cost: bound && bound.cost < cost ? bound.cost : cost }
}

function isBeyond(bound: Bound, candidate: Candidate, priced: PricedRequest): boolean {
  return candidate.fallbackModel !== bound.fallbackModel || worstCostAt(candidate, priced) > bound.cost
}

function beginAttempt(journey: Journey, { provider, model }: UpstreamRoute, nowMs: number): void {
  journey.attemptAtMs = nowMs
  journey.attempts.push({ provider, model, result: 'open', ms: 0 })
  journey.droppedFields = undefined
}

function noteAnswer(journey: Journey, { route, fallbackModel }: Candidate, nowMs: number): void {
  endAttempt(journey, 'ok', nowMs)
  journey.route = routeKey(route)
  journey.provider = route.provider
  journey.upstreamModel = route.model
  if (route.cost) journey.cost = route.cost
  if (fallbackModel !== undefined) journey.fallbackModel = fallbackModel
}

function noteFailure(
  { health, log, clock }: RoutingDeps,
  request: RoutedRequest,
  candidate: Candidate,
  failure: UpstreamFailure,
  signal: AbortSignal,
): void {
  const { journey, priced } = request
  const { route } = candidate
  endAttempt(journey, failure.result, clock(), failure.said)
  if (failure.reason === 'unsupported') return
  if (failure.reason === 'rejected' && failure.detail.status) journey.provider = route.provider
  if (failure.mayBeBilled) log.unpaid(route.provider, route.cost && worstCostAt(candidate, priced))
  if (!failure.worthAnotherRoute || signal.aborted) return
  health.failed(routeKey(route), failure, () => witnessOf(request), clock())
  log.upstreamFailed(route.provider, failure)
}

/** The failure that the caller is told if no route has answered. */
function failureOf(failures: readonly UpstreamFailure[], model: string): UpstreamFailure {
  const asked = failures.filter(({ reason }) => reason !== 'unsupported')
  return (
    allBusy(asked) ??
    asked.at(-1) ??
    failures[0] ??
    new UpstreamFailure('connect', `The model '${model}' has no route.`)
  )
}

/** If every upstream refused for its rate limit, the caller may retry at the earliest time that one of them named. */
function allBusy(failures: readonly UpstreamFailure[]): UpstreamFailure | undefined {
  if (failures.length === 0 || failures.some(({ detail }) => detail.status !== TOO_MANY_REQUESTS)) return undefined
  const waits = failures.flatMap(({ detail }) => detail.retryAfterMs ?? [])
  return new UpstreamFailure('rate_limit', 'Every upstream of it is at its rate limit.', {
    status: TOO_MANY_REQUESTS,
    retryAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
  })
}

/** The most that this request may cost us at a route; a route of unknown cost counts as costing the price of its model. */
function worstCostAt({ route, outputCap, fallbackModel }: Candidate, priced: PricedRequest): Nano {
  const model = (fallbackModel !== undefined && priced.catalog.models.get(fallbackModel)) || priced.model
  return worstCostOf(route.cost ? parsePrice(route.cost) : model.tokenPrice, worstCaseOf({ ...priced, outputCap }))
}

/** The model's own routes, then those of its fallbacks that the key may use. */
function candidatesOf(
  { priced: { model, outputCap, catalog, pinned }, credential }: RoutedRequest,
  health: RouteHealth,
  nowMs: number,
): Candidate[] {
  const isResting = (route: UpstreamRoute) => health.isResting(routeKey(route), nowMs)
  const inOrder = (routes: readonly UpstreamRoute[]) =>
    orderRoutes(pinned ? pinRoutes(pinnableRoutes(routes, model), pinned) : routes, isResting, Math.random)
  const { allowFields = [] } = model
  const own = inOrder(model.routes).map((route) => ({ route, outputCap, allowFields }))
  if (!model.fallback) return own
  const others = model.fallback.flatMap((id) => {
    const other = catalog.models.get(id)
    if (!other || !mayUseModel(credential.key, id)) return []
    const lowerCap = Math.min(outputCap, other.maxOutputTokens)
    return inOrder(other.routes).map((route) => ({ route, outputCap: lowerCap, allowFields, fallbackModel: id }))
  })
  return [...own, ...others]
}
