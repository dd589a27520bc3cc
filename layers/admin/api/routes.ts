import type { z } from 'zod'
import { DAY_MS, isoTime } from '../../gateway/domain/basics/time.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import type { CatalogModel, UpstreamRoute } from '../../gateway/domain/routing/catalog.ts'
import { LONGEST_REST_MS, routeKey } from '../../gateway/domain/routing/route-order.ts'
import { blameOfResult } from '../../gateway/domain/routing/upstream-failure.ts'
import { type Asked, modelPartKey, UsageSum } from '../../gateway/domain/rows/usage-sum.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { attemptWords } from '../explain/attempt-words.ts'
import type { RouteTest } from '../routes/test-route.ts'
import { usageReader } from '../usage/usage-reader.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import type { Answer, Call } from './call.ts'
import { quantilesOf } from './overview-ranges.ts'
import { cursorOf, readCursor, wholeList } from './pages.ts'
import type { List } from './shapes/answers.ts'
import type { routesTestBody } from './shapes/bodies.ts'
import type { RouteShape, RouteTestShape } from './shapes/catalog.ts'

export async function listRoutes(call: Call): Promise<Answer> {
  return { body: wholeList(await routesNow(call)) }
}

type Moment = Pick<Call, 'tables' | 'nowMs'>

/** The routes of the active models, with the attempts of the last 24 hours. */
export async function routesNow({ tables, nowMs }: Moment, read = usageReader(tables)): Promise<RouteShape[]> {
  const stored = await readStoredCatalog(tables)()
  if (!stored) return []
  const day = { fromMs: nowMs - DAY_MS, toMs: latestRowMs(nowMs) }
  const sum = new UsageSum()
  const spans = await Promise.all(SUMS.map((kind) => Array.fromAsync(read(day, kind, 'hours'))))
  // An hour that is read from rows has all sums in each of its kinds.
  SUMS.forEach((kind, i) => {
    for (const span of spans[i] ?? []) addOnly(kind, span.sum, sum)
  })
  return stored.data.models
    .filter(({ active }) => active)
    .flatMap((model) =>
      inOrder(model).map((route, i) => {
        const attempts = sum.routes.get(routeKey(route)) ?? { asked: 0, failed: 0 }
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
          last_failure: failureShape(attempts),
          resting_until: restingUntil(attempts, nowMs),
          first_token_ms: quantilesOf(sum.models.get(modelPartKey(model.id, route.provider))?.firstToken),
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

const SUMS = ['routes', 'models'] as const

function addOnly(kind: (typeof SUMS)[number], from: UsageSum, to: UsageSum): void {
  if (kind === 'routes') for (const [route, asked] of from.routes) to.addRoute(route, asked)
  else for (const part of from.models.values()) to.addModel(part)
}

/** Routes of one priority share the requests that come to it. */
function shareOf({ priority, weight }: UpstreamRoute, { routes }: CatalogModel): number {
  const beside = routes.filter((route) => route.priority === priority)
  return weight / beside.reduce((all, route) => all + route.weight, 0)
}

/** Lower priorities first; among equals, the one with the largest share. */
function inOrder({ routes }: CatalogModel): CatalogModel['routes'] {
  return routes.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight)
}

/** One tiny request through each route, which the provider bills. */
export async function testRoutesPage(call: Call, sent: z.output<typeof routesTestBody>): Promise<Answer> {
  const first = Number(readCursor(sent.after, /^\d{1,6}$/)?.[0] ?? 0)
  // With the providers' dialects, which no other call needs.
  const { testRoutes } = await import('../routes/test-routes.ts')
  const { tests, hasMore } = await testRoutes(call, sent, first)
  const body: List<RouteTestShape> = {
    object: 'list',
    data: tests.map(testShape),
    has_more: hasMore,
    last_id: hasMore ? cursorOf(first + tests.length) : null,
  }
  return { body }
}

function testShape({ upstreamModel, firstTokenMs, tokens, cost, ...test }: RouteTest): RouteTestShape {
  return {
    object: 'route.test',
    ...test,
    upstream_model: upstreamModel,
    first_token_ms: firstTokenMs ?? null,
    tokens: tokens ?? null,
    cost: cost === undefined ? null : formatCredits(cost),
  }
}
