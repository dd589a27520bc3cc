import type { CatalogModel } from '../../gateway/domain/catalog.ts'
import { formatCredits } from '../../gateway/domain/money.ts'
import { routeKey } from '../../gateway/domain/route-order.ts'
import { DAY_MS } from '../../gateway/domain/time.ts'
import type { Asked } from '../../gateway/domain/usage-sum.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { usageReader } from '../usage/usage-reader.ts'
import { latestRowMs } from '../usage/usage-rows.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call, RouteTest, WantedRoutes } from './call.ts'
import type { List } from './shapes/answers.ts'
import type { RouteShape, RouteTestShape } from './shapes/catalog.ts'

export async function listRoutes(call: Call): Promise<Answer> {
  return { body: wholeList(await routesNow(call)) }
}

type Moment = Pick<Call, 'tables' | 'nowMs'>

/** The routes of the active models, with the attempts of the last 24 hours. */
export async function routesNow({ tables, nowMs }: Moment, read = usageReader(tables)): Promise<RouteShape[]> {
  const stored = await readStoredCatalog(tables)()
  if (!stored) return []
  const attempts = new Map<string, Asked>()
  for await (const { sum } of read({ fromMs: nowMs - DAY_MS, toMs: latestRowMs(nowMs) }, 'routes', 'hours')) {
    for (const [route, { asked, failed }] of sum.routes) {
      const before = attempts.get(route) ?? { asked: 0, failed: 0 }
      attempts.set(route, { asked: before.asked + asked, failed: before.failed + failed })
    }
  }
  return stored.data.models
    .filter(({ active }) => active)
    .flatMap((model) =>
      inOrder(model).map((route, i) => {
        const { asked = 0, failed = 0 } = attempts.get(routeKey(route)) ?? {}
        return {
          object: 'route' as const,
          model: model.id,
          provider: route.provider,
          upstream_model: route.model,
          order: i + 1,
          first_byte_timeout_ms: route.firstByteTimeoutMs,
          idle_timeout_ms: route.idleTimeoutMs,
          requests_24h: asked,
          failures_24h: failed,
        }
      }),
    )
}

/** Lower priorities first; among equals, the one with the largest share. */
function inOrder({ routes }: CatalogModel): CatalogModel['routes'] {
  return routes.toSorted((a, b) => a.priority - b.priority || b.weight - a.weight)
}

/** One tiny request through each route, which the provider bills. */
export async function testRoutesNow({ onThisMachine }: Call, wanted: WantedRoutes): Promise<Answer> {
  if (!onThisMachine) {
    throw new AdminError('not_here', "Routes are not tested from here: run 'waybill routes test' on your own machine.")
  }
  return { body: wholeList((await onThisMachine.testRoutes(wanted)).map(testShape)) }
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

function wholeList<T>(data: readonly T[]): List<T> {
  return { object: 'list', data, has_more: false, last_id: null }
}
