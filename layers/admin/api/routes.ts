import type { z } from 'zod'
import { DAY_MS, isoTime } from '../../gateway/domain/basics/time.ts'
import type { CatalogModel, UpstreamRoute } from '../../gateway/domain/routing/catalog.ts'
import { LONGEST_REST_MS, routeKey } from '../../gateway/domain/routing/route-order.ts'
import { blameOfResult } from '../../gateway/domain/routing/upstream-failure.ts'
import { latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import { type Asked, modelPartKey } from '../../gateway/domain/rows/usage-sum.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { attemptWords } from '../explain/explain-request.ts'
import { quantilesOf } from '../usage/usage-numbers.ts'
import { sumOf, usageReader } from '../usage/usage-reader.ts'
import type { Call } from './call.ts'
import { cursorOf, pageOf, readCursor, wholeList } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { routesTestBody } from './shapes/bodies.ts'
import type { RouteShape, RouteTestShape } from './shapes/catalog.ts'

export async function list(call: Call): Promise<List<RouteShape>> {
  return wholeList(await routesNow(call))
}

export async function routesNow({ tables, nowMs }: Call, read = usageReader(tables)): Promise<RouteShape[]> {
  const stored = await readStoredCatalog(tables)()
  if (!stored) return []
  const day = { fromMs: nowMs - DAY_MS, toMs: latestRowMs(nowMs) }
  // An hour that is read from rows has all sums in each of its kinds.
  const [{ routes }, { models }] = await Promise.all([
    sumOf(read(day, 'routes', 'hours')),
    sumOf(read(day, 'models', 'hours')),
  ])
  return stored.data.models
    .filter(({ active }) => active)
    .flatMap((model) =>
      model.routes
        .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight)
        .map((route, i) => {
          const attempts: Asked = routes.get(routeKey(route)) ?? { asked: 0, failed: 0 }
          return {
            object: 'route' as const,
            model: model.id,
            provider: route.provider,
            upstream_model: route.model,
            order: i + 1,
            priority: route.priority,
            weight: route.weight,
            share: shareOf(route, model),
            first_byte_timeout_ms: route.firstByteTimeoutMs,
            idle_timeout_ms: route.idleTimeoutMs,
            requests_24h: attempts.asked,
            failures_24h: attempts.failed,
            refused_24h: attempts.refused ?? 0,
            last_failure: failureShape(attempts),
            resting_until: restingUntil(attempts, nowMs),
            first_token_ms: quantilesOf(models.get(modelPartKey(model.id, route.provider))?.firstToken),
          }
        }),
    )
}

function failureShape({ lastFailure }: Asked): RouteShape['last_failure'] {
  if (!lastFailure) return null
  const { atMs, requestId, result } = lastFailure
  return { at: isoTime(atMs), request_id: requestId, result, words: attemptWords({ result }) }
}

/** Each instance keeps its own count of failures: this is the longest that any of them rests. */
function restingUntil({ lastFailure, lastOkMs = 0 }: Asked, nowMs: number): string | null {
  if (!lastFailure || lastFailure.atMs <= lastOkMs || blameOfResult(lastFailure.result) === 'caller') return null
  const untilMs = lastFailure.atMs + LONGEST_REST_MS
  return untilMs > nowMs ? isoTime(untilMs) : null
}

function shareOf({ priority, weight }: UpstreamRoute, { routes }: CatalogModel): number {
  const beside = routes.filter((route) => route.priority === priority)
  return weight / beside.reduce((all, route) => all + route.weight, 0)
}

export async function test(call: Call, sent: z.output<typeof routesTestBody>): Promise<List<RouteTestShape>> {
  const first = Number(readCursor(sent.after, /^\d{1,6}$/)?.[0] ?? 0)
  // It brings the providers' dialects, which no other call needs.
  const { testRoutes } = await import('../routes/test-routes.ts')
  const { tests, hasMore } = await testRoutes(call, sent, first)
  return pageOf(tests, hasMore, hasMore ? cursorOf(first + tests.length) : undefined)
}
