import { mayUseModel } from '../../domain/admission/access.ts'
import { isBeyondLoss, type LossDeps, lossBoundOf } from '../../domain/admission/counters.ts'
import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { Catalog, UpstreamRoute } from '../../domain/routing/catalog.ts'
import { type Candidate, isAllowedFallback, worstCostAt, worstLossAt } from '../../domain/routing/route-cost.ts'
import { routeKey } from '../../domain/routing/route-order.ts'
import { TOO_MANY_REQUESTS, UpstreamFailure, wasAsked } from '../../domain/routing/upstream-failure.ts'
import { BEYOND_CAP } from '../../domain/rows/usage-row.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Provider } from '../../providers/provider.ts'
import type { TakeLoss } from '../../store/admission/take-loss.ts'
import { Tally } from '../answering/tally.ts'
import { deadAtMs, endAttempt, type Journey, type RoutedRequest } from '../request.ts'
import { type RouteHealth, reporterOf } from './route-health.ts'
import { type Choose, routeOrder } from './routes-in-order.ts'

export type RoutingDeps = LossDeps & {
  readonly openProvider: (catalog: Catalog, id: string) => Provider
  readonly health: RouteHealth
  readonly takeLoss: TakeLoss
  readonly clock: () => number
  readonly log: Log
}

/** However many routes and fallbacks there are: each attempt may be billed, and is noted in the row. */
const MOST_ATTEMPTS = 8

/** A route that is asked now. The tally has what has come of its answer, also if it fails. */
export type AskedRoute = { readonly provider: Provider; readonly candidate: Candidate; readonly tally: Tally }

/**
 * Asks the model's routes in order until one has answered. Throws the last UpstreamFailure, or one for all if all are busy.
 * A failure that a body can cause leads to routes of the same model only that cost no more than is paid: no caller may
 * choose a more expensive model or route by its request. After other failures a route that costs more is asked if its worst
 * loss can be taken from the key's bound.
 */
export async function tryRoutes<T>(
  deps: RoutingDeps,
  request: RoutedRequest,
  signal: AbortSignal,
  ask: (route: AskedRoute) => Promise<T>,
): Promise<T> {
  const { priced, journey } = request
  const { openProvider, health, clock } = deps
  const failures: UpstreamFailure[] = []
  let provoked: Candidate | undefined
  let isTooExpensive = false
  const nowMs = clock()
  const inOrder = await routeOrder(priced, (route) => health.isResting(routeKey(route), nowMs))
  const candidates = candidatesOf(request, inOrder)
  if (candidates.length === 0) throw (await import('#advice')).noReader(priced)
  for (const candidate of candidates) {
    if (failures.length === MOST_ATTEMPTS) break
    if (provoked && candidate.fallbackModel !== provoked.fallbackModel) continue
    const worst = worstLossAt(candidate, priced)
    if (worst > 0n && (provoked || !(await mayLose(deps, request, worst)))) {
      isTooExpensive = true
      continue
    }
    beginAttempt(journey, candidate.route, clock())
    const tally = new Tally(priced, candidate.route.provider)
    try {
      const provider = openProvider(priced.catalog, candidate.route.provider)
      const answer = await ask({ provider, candidate, tally })
      noteAnswer(journey, candidate, clock())
      return answer
    } catch (error) {
      noteOwed(journey, candidate, tally, error)
      if (!(error instanceof UpstreamFailure)) throw error
      failures.push(error)
      noteFailure(deps, request, candidate, error, signal)
      // An answer with its usage is paid for, and a second one would be, too.
      if (!error.worthAnotherRoute || signal.aborted || tally.isCounted) break
      // It is charged, and the hold covers no second answer.
      if (error.mayBeBilled && isBeyondLoss(request.credential.key, request.nowMs, deps)) break
      if (error.blame === 'caller') provoked ??= candidate
    }
  }
  if (isTooExpensive && failures.length === 0) throw await tooExpensive(request)
  throw failureOf(failures, priced.model.id)
}

/** Takes the worst loss of a route from what the key may still lose today; false if that is less. */
async function mayLose(deps: RoutingDeps, request: RoutedRequest, amount: Nano): Promise<boolean> {
  const { requestId, journey, credential } = request
  const hold = { amount: request.hold, untilMs: deadAtMs(request) }
  const bound = lossBoundOf(credential.key, deps, request.nowMs)
  const isTaken = await deps.takeLoss({ address: credential.key.address, requestId, hold, amount, bound })
  if (isTaken) journey.lossTaken = (journey.lossTaken ?? 0n) + amount
  if (isTaken === false) journey.isLossRefused = true
  return isTaken === true
}

async function tooExpensive({ credential, priced, nowMs }: RoutedRequest): Promise<GatewayError> {
  const { admissionRefusal } = await import('#advice')
  return admissionRefusal('daily_loss_exceeded', credential.key, { nowMs, priced })
}

/** Keeps an attempt that its upstream may bill, for the bill and the key's loss. */
function noteOwed(journey: Journey, candidate: Candidate, tally: Tally, error: unknown): void {
  const failure = error instanceof UpstreamFailure ? error : undefined
  if (tally.isAnswered || failure?.mayBeBilled) journey.owed = [...(journey.owed ?? []), { candidate, tally, failure }]
}

function beginAttempt(journey: Journey, { provider, model }: UpstreamRoute, nowMs: number): void {
  journey.attemptAtMs = nowMs
  journey.attempts.push({ provider, model, result: 'open', ms: 0 })
  journey.droppedFields = undefined
}

function noteAnswer(journey: Journey, candidate: Candidate, nowMs: number): void {
  const { route, fallbackModel } = candidate
  endAttempt(journey, 'ok', nowMs)
  journey.candidate = candidate
  journey.route = routeKey(route)
  journey.provider = route.provider
  journey.upstreamModel = route.model
  if (route.cost) journey.cost = route.cost
  if (fallbackModel !== undefined) journey.fallbackModel = fallbackModel
}

/** A route has answered. So has one that ignores its output cap, but the operator should know. */
export function noteAnswered({ health, log, clock }: RoutingDeps, journey: Journey, tally: Tally): void {
  const { route, provider, upstreamModel } = journey
  if (route) health.succeeded(route)
  endAttempt(journey, tally.isBeyondCap ? BEYOND_CAP : 'ok', clock())
  if (tally.isBeyondCap && provider && upstreamModel) log.beyondCap(provider, upstreamModel)
}

/** A route that dies in the middle of its answers rests like one that never begins. Our own deadline is not its fault. */
export function noteBroken(
  deps: RoutingDeps,
  request: RoutedRequest,
  tally: Tally,
  error: unknown,
  deadline: AbortSignal,
): void {
  const { journey } = request
  const { candidate } = journey
  delete journey.candidate
  if (candidate) noteOwed(journey, candidate, tally, error)
  if (!(error instanceof UpstreamFailure)) return
  endAttempt(journey, error.result, deps.clock(), error.said)
  if (candidate && !error.isCallers && !deadline.aborted) blame(deps, request, candidate.route, error)
}

function blame(deps: RoutingDeps, request: RoutedRequest, route: UpstreamRoute, why: UpstreamFailure) {
  deps.health.failed(routeKey(route), why, () => reporterOf(request), deps.clock())
  deps.log.upstreamFailed(route.provider, why)
}

function noteFailure(
  deps: RoutingDeps,
  request: RoutedRequest,
  candidate: Candidate,
  failure: UpstreamFailure,
  signal: AbortSignal,
): void {
  const { journey, priced } = request
  const { route } = candidate
  if (!wasAsked(failure.result)) return void journey.attempts.pop()
  endAttempt(journey, failure.result, deps.clock(), failure.said)
  journey.provider = route.provider
  if (failure.mayBeBilled) deps.log.unpaid(route.provider, route.cost && worstCostAt(candidate, priced))
  if (failure.worthAnotherRoute && !failure.isCallers && !signal.aborted) blame(deps, request, route, failure)
}

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

/** The model's own routes, then those of its fallbacks that the key may use. */
function candidatesOf({ priced, credential }: RoutedRequest, inOrder: Choose): Candidate[] {
  const { model, outputCap, catalog } = priced
  const { allowFields = [] } = model
  const own = inOrder(model.routes).map((route) => ({ route, outputCap, allowFields }))
  if (!model.fallback) return own
  const others = model.fallback.flatMap((id) => {
    const other = catalog.models.get(id)
    if (!other || !mayUseModel(credential.key, id)) return []
    const lowerCap = Math.min(outputCap, other.maxOutputTokens)
    return inOrder(other.routes).map((route) => ({ route, outputCap: lowerCap, allowFields, fallbackModel: id }))
  })
  return [...own, ...others.filter((candidate) => isAllowedFallback(candidate, priced))]
}
