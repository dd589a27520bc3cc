import type { CatalogModel } from '../../gateway/domain/catalog.ts'
import type { Key } from '../../gateway/domain/key.ts'
import { formatCredits } from '../../gateway/domain/money.ts'
import { routeKey } from '../../gateway/domain/route-order.ts'
import { readStoredCatalog } from '../../gateway/store/catalog/read-catalog.ts'
import { newestKeys } from '../../gateway/store/newest-keys.ts'
import { attemptsOf24h } from '../usage/route-attempts.ts'
import { AdminError } from './admin-error.ts'
import type { Answer, Call, RouteTest, WantedRoutes } from './call.ts'
import type { List } from './shapes/answers.ts'
import type { RouteShape, RouteTestShape } from './shapes/catalog.ts'

export async function listRoutes(call: Call): Promise<Answer> {
  return { body: wholeList(await routesNow(call, await Array.fromAsync(newestKeys(call.tables)()))) }
}

type Moment = Pick<Call, 'tables' | 'nowMs'>

/** The routes of the active models, with the attempts of the last 24 hours by these keys. */
export async function routesNow({ tables, nowMs }: Moment, keys: readonly Key[]): Promise<RouteShape[]> {
  const stored = await readStoredCatalog(tables)()
  if (!stored) return []
  const attempts = await attemptsOf24h(tables, keys, nowMs)
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
