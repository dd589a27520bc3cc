import type { Catalog, Route } from '../domain/catalog.ts'
import type { ChatPart } from '../domain/chat.ts'
import type { ChatWork } from '../domain/chat-work.ts'
import { orderRoutes, pinRoutes, routeKey } from '../domain/route-order.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import type { Provider } from '../providers/provider.ts'
import { textOf } from '../wire/delta.ts'
import type { Log } from './log.ts'
import type { AssessedWork, Journey } from './passage.ts'
import type { RouteHealth } from './route-health.ts'

export type DispatchDeps = {
  readonly openProvider: (catalog: Catalog, id: string) => Provider
  readonly health: RouteHealth
  readonly clock: () => number
  readonly log: Log
}

/** A route to try, and the output cap that its model takes. */
type Candidate = { readonly route: Route; readonly outputCap: number; readonly fallbackModel?: string }

const MOST_LEADING_PARTS = 1_000

/** What is made of a route's answer. As long as it has not returned, the answer may be replaced by another route's. */
export type Accept<T> = (parts: AsyncIterable<ChatPart>) => Promise<T> | T

/**
 * Tries the model's routes in order until one has said something that `accept` takes, so that until then another route,
 * or an honest status, is still possible. Throws the last route's UpstreamFailure.
 */
export async function dispatch<T>(
  { openProvider, health, clock, log }: DispatchDeps,
  work: AssessedWork,
  journey: Journey,
  signal: AbortSignal,
  accept: Accept<T>,
): Promise<T> {
  let last: UpstreamFailure | undefined
  for (const candidate of candidatesOf(work, health, clock())) {
    const { route, fallbackModel } = candidate
    const startedMs = clock()
    const note = (result: string) =>
      journey.attempts.push({ provider: route.provider, result, ms: clock() - startedMs })
    try {
      const provider = openProvider(work.catalog, route.provider)
      const accepted = await accept(await begin(provider, candidate, work.chat, signal))
      note('ok')
      journey.route = routeKey(route)
      journey.provider = route.provider
      journey.upstreamModel = route.model
      if (fallbackModel !== undefined) journey.fallbackModel = fallbackModel
      return accepted
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      note(error.detail.status ? `${error.reason} ${error.detail.status}` : error.reason)
      last = error
      if (error.reason === 'rejected') journey.provider = route.provider
      if (!error.worthAnotherRoute || signal.aborted) break
      if (error.reason === 'unsupported') continue
      health.failed(routeKey(route), error, clock())
      log.upstreamFailed(route.provider, error)
    }
  }
  throw last ?? new UpstreamFailure('connect', `The model '${work.chat.model.id}' has no route.`)
}

/** The model's own routes, then those of the models that may stand in for it. */
function candidatesOf({ chat, catalog, pinned }: AssessedWork, health: RouteHealth, nowMs: number): Candidate[] {
  const isResting = (route: Route) => health.isResting(routeKey(route), nowMs)
  const inOrder = (routes: readonly Route[]) =>
    orderRoutes(pinned ? pinRoutes(routes, pinned) : routes, isResting, Math.random)
  const own = inOrder(chat.model.routes).map((route) => ({ route, outputCap: chat.outputCap }))
  const others = (chat.model.fallback ?? []).flatMap((id) => {
    const model = catalog.models.get(id)
    if (!model) return []
    const outputCap = Math.min(chat.outputCap, model.maxOutputTokens)
    return inOrder(model.routes).map((route) => ({ route, outputCap, fallbackModel: id }))
  })
  return [...own, ...others]
}

async function begin(provider: Provider, { route, outputCap }: Candidate, work: ChatWork, signal: AbortSignal) {
  const patience = new AbortController()
  const timer = setTimeout(
    () => patience.abort(new UpstreamFailure('timeout', `No answer began within ${route.firstByteTimeoutMs} ms.`)),
    route.firstByteTimeoutMs,
  )
  const parts = provider
    .chat({
      request: work.request,
      outputCap,
      model: route.model,
      idleTimeoutMs: route.idleTimeoutMs,
      signal: AbortSignal.any([signal, patience.signal]),
    })
    [Symbol.asyncIterator]()
  try {
    const leading = await readLeading(parts)
    return continueFrom(leading, parts)
  } catch (error) {
    await parts.return?.()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** The parts up to the first that says something: text, a tool call, or an end. */
async function readLeading(parts: AsyncIterator<ChatPart>): Promise<ChatPart[]> {
  const leading: ChatPart[] = []
  while (leading.length < MOST_LEADING_PARTS) {
    const { done, value } = await parts.next()
    if (done) break
    leading.push(value)
    if (value.kind === 'choice' && (value.finishReason !== null || textOf(value.delta) !== '')) return leading
  }
  throw new UpstreamFailure('empty', 'The upstream sent no answer.')
}

async function* continueFrom(leading: readonly ChatPart[], rest: AsyncIterator<ChatPart>): AsyncGenerator<ChatPart> {
  try {
    yield* leading
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
