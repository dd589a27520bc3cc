import middy from '@middy/core'
import type { GatewayAnswer, GatewayEvent, IdentifiedRequest } from '../layers/gateway/flow/request.ts'
import type { GatewayContext, Middleware } from '../layers/gateway/middleware/gate.ts'
import { waitAtMost } from '../layers/gateway/platform/retry.ts'
import { requestEnd } from './gates.ts'
import type { Instance } from './instance.ts'

type Answer = (request: IdentifiedRequest, event: GatewayEvent) => Promise<unknown> | unknown

/** Kept back from the function's timeout: the answer is returned when the invocation ends, and must not be lost to it. */
const RESERVE_MS = 1_000

export function jsonHandler(instance: Instance, gates: Middleware[], answer: Answer) {
  const end = requestEnd(instance)
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({
    timeoutEarlyInMillis: 0,
    requestEnd: (ended) => waitAtMost(end(ended), ended.context.getRemainingTimeInMillis() - RESERVE_MS),
  })
    .use(gates)
    .handler(async (event: GatewayEvent, { request }: GatewayContext): Promise<GatewayAnswer> => {
      const body = JSON.stringify(await answer(request as IdentifiedRequest, event))
      return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body }
    })
}
