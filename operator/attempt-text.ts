import { routeKey } from '../layers/gateway/domain/route-order.ts'
import type { Attempt } from '../layers/gateway/domain/usage-row.ts'

export function attemptText({ result, ms, ...route }: Attempt): string {
  return `${routeKey(route)}: ${result} after ${ms} ms`
}
