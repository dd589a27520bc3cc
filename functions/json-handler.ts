import middy from '@middy/core'
import type { Gates, GatewayAnswer, GatewayContext, GatewayEvent } from '../layers/gateway/middleware/gate.ts'
import type { AdmittedRequest } from '../layers/gateway/request.ts'

type Answer = (request: AdmittedRequest, event: GatewayEvent) => Promise<unknown> | unknown

/** A function behind API Gateway: the gates, then one JSON answer. */
export function jsonHandler(gates: Gates<AdmittedRequest>, answer: Answer) {
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({ timeoutEarlyInMillis: 0 })
    .use([...gates.middlewares])
    .handler(async (event: GatewayEvent, { request }: GatewayContext): Promise<GatewayAnswer> => {
      const body = JSON.stringify(await answer(request as AdmittedRequest, event))
      return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body }
    })
}
