import type { Catalog, UpstreamRoute } from '../domain/catalog.ts'
import type { ChatPart } from '../domain/chat.ts'
import type { Nano } from '../domain/money.ts'
import { parsePrice, worstCostOf } from '../domain/price.ts'
import { mayWriteCache, type PricedRequest, worstCaseOf } from '../domain/priced-request.ts'
import { orderRoutes, pinRoutes, routeKey } from '../domain/route-order.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import type { Log } from '../log.ts'
import type { Provider } from '../providers/provider.ts'
import { endAttempt, type Journey } from '../request.ts'
import { speaks } from '../wire/delta.ts'
import { mayComeWhole } from './may-come-whole.ts'
import type { RouteHealth } from './route-health.ts'

export type DispatchDeps = {
  readonly openProvider: (catalog: Catalog, id: string) => Provider
  readonly health: RouteHealth
  readonly clock: () => number
  readonly log: Log
}

/** A route to try, and what its model takes and allows. */
type Candidate = {
  readonly route: UpstreamRoute
  readonly outputCap: number
  readonly allowFields: readonly string[]
  readonly fallbackModel?: string
}

/** However many routes a model and its fallbacks have. Each attempt may be billed, and has its place in the row. */
const MOST_ATTEMPTS = 8
const MOST_LEADING_PARTS = 1_000

/** The parts of an answer, in batches: each is what one read from the upstream brought. */
export type Answer = AsyncIterable<readonly ChatPart[]>

/** Consumes a route's answer. Until it has returned, the answer may be replaced by another route's. */
type Accept<T> = (answer: Answer) => Promise<T> | T

/**
 * Tries the model's routes in order until one has said something that `accept` takes, so that until then another route,
 * or an honest status, is still possible. Throws the last route's UpstreamFailure, or one for all if all are busy.
 */
export async function dispatch<T>(
  deps: DispatchDeps,
  priced: PricedRequest,
  journey: Journey,
  signal: AbortSignal,
  accept: Accept<T>,
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
      const provider = openProvider(priced.catalog, route.provider)
      const accepted = await accept(await begin(provider, candidate, priced, journey, signal))
      endAttempt(journey, 'ok', clock())
      journey.route = routeKey(route)
      journey.provider = route.provider
      journey.upstreamModel = route.model
      if (route.cost) journey.cost = route.cost
      if (fallbackModel !== undefined) journey.fallbackModel = fallbackModel
      return accepted
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
  const others = (model.fallback ?? []).flatMap((id) => {
    const other = catalog.models.get(id)
    if (!other) return []
    const lowerCap = Math.min(outputCap, other.maxOutputTokens)
    return inOrder(other.routes).map((route) => ({ route, outputCap: lowerCap, allowFields, fallbackModel: id }))
  })
  return [...own, ...others]
}

async function begin(
  provider: Provider,
  { route, outputCap, allowFields }: Candidate,
  priced: PricedRequest,
  journey: Journey,
  signal: AbortSignal,
) {
  delete journey.droppedFields
  const ending = new AbortController()
  const end = () => ending.abort(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const asksWhole = mayComeWhole(priced, route, outputCap)
  journey.asksWhole = asksWhole
  // A whole answer says nothing before its end, so it has until the request's own deadline.
  const timer = asksWhole
    ? undefined
    : setTimeout(
        () => ending.abort(new UpstreamFailure('timeout', `No answer began within ${route.firstByteTimeoutMs} ms.`)),
        route.firstByteTimeoutMs,
      )
  const batches = provider
    .chat({
      chat: priced.chat,
      outputCap,
      model: route.model,
      asksWhole,
      idleTimeoutMs: route.idleTimeoutMs,
      allowFields,
      mayWriteCache: mayWriteCache(priced),
      noteDropped: (fields) => {
        journey.droppedFields = fields
      },
      signal: ending.signal,
    })
    [Symbol.asyncIterator]()
  try {
    const leading = await readLeading(batches)
    return continueFrom(leading, batches)
  } catch (error) {
    await batches.return?.()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** The parts up to the batch with the first that says something, of whatever kind, or ends. */
async function readLeading(batches: AsyncIterator<readonly ChatPart[]>): Promise<readonly ChatPart[]> {
  let leading: readonly ChatPart[] = []
  while (leading.length < MOST_LEADING_PARTS) {
    const { done, value } = await batches.next()
    if (done) break
    leading = leading.length > 0 ? [...leading, ...value] : value
    if (value.some(isAnswer)) return leading
  }
  throw new UpstreamFailure('empty', 'The upstream sent no answer.')
}

function isAnswer(part: ChatPart): boolean {
  return part.kind === 'choice' && (part.finishReason !== null || speaks(part.delta))
}

function continueFrom(leading: readonly ChatPart[], rest: AsyncIterator<readonly ChatPart[]>): Answer {
  let first: readonly ChatPart[] | undefined = leading
  const next = (): Promise<IteratorResult<readonly ChatPart[]>> => {
    if (!first) return rest.next()
    const value = first
    first = undefined
    return Promise.resolve({ done: false, value })
  }
  const leave = async () => {
    await rest.return?.()
    return { done: true as const, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) }
}
