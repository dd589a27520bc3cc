import { routeKey } from '../../gateway/domain/route-order.ts'
import type { Attempt } from '../../gateway/domain/usage-row.ts'

export function attemptText({ result, ms, ...route }: Attempt): string {
  return `${routeKey(route)}: ${result} after ${ms} ms`
}
