import type { Catalog, Route } from '../domain/catalog.ts'
import type { ChatPart } from '../domain/chat.ts'
import type { ChatWork } from '../domain/chat-work.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import type { Provider } from '../providers/provider.ts'
import { textOf } from '../wire/delta.ts'
import type { Log } from './log.ts'
import type { Journey } from './passage.ts'

export type DispatchDeps = {
  readonly openProvider: (catalog: Catalog, id: string) => Provider
  readonly clock: () => number
  readonly log: Log
}

const MOST_LEADING_PARTS = 1_000

/**
 * Tries the model's routes in order and resolves with the first part that says something in hand, so that until then
 * another route, or an honest status, is still possible. Throws the last route's UpstreamFailure.
 */
export async function dispatch(
  { openProvider, clock, log }: DispatchDeps,
  catalog: Catalog,
  work: ChatWork,
  journey: Journey,
  signal: AbortSignal,
): Promise<AsyncIterable<ChatPart>> {
  let last = new UpstreamFailure('connect', `The model '${work.model.id}' has no route.`)
  for (const route of inOrder(work.model.routes)) {
    const startedMs = clock()
    const note = (result: string) =>
      journey.attempts.push({ provider: route.provider, result, ms: clock() - startedMs })
    try {
      const parts = await begin(openProvider(catalog, route.provider), route, work, signal)
      note('ok')
      journey.provider = route.provider
      journey.upstreamModel = route.model
      return parts
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      note(error.detail.status ? `${error.reason} ${error.detail.status}` : error.reason)
      last = error
      if (error.reason === 'rejected') journey.provider = route.provider
      else log.upstreamFailed(route.provider, error)
      if (!error.worthAnotherRoute || signal.aborted) break
    }
  }
  throw last
}

function inOrder(routes: readonly Route[]): Route[] {
  return routes.toSorted((a, b) => a.priority - b.priority)
}

async function begin(provider: Provider, route: Route, work: ChatWork, signal: AbortSignal) {
  const patience = new AbortController()
  const timer = setTimeout(
    () => patience.abort(new UpstreamFailure('timeout', `No answer began within ${route.firstByteTimeoutMs} ms.`)),
    route.firstByteTimeoutMs,
  )
  const parts = provider
    .chat({
      request: work.request,
      outputCap: work.outputCap,
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
