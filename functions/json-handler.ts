import middy from '@middy/core'
import type { Passage } from '../layers/gateway/flow/passage.ts'
import type { Gate, GatewayAnswer, GatewayContext, GatewayEvent } from '../layers/gateway/middleware/gate.ts'

type Answer = (passage: Passage, event: GatewayEvent) => Promise<unknown> | unknown

/** A function behind API Gateway: the gates, then one JSON answer. */
export function jsonHandler(gates: Gate[], answer: Answer) {
  return middy<GatewayEvent, GatewayAnswer, Error, GatewayContext>({ timeoutEarlyInMillis: 0 })
    .use(gates)
    .handler(async (event: GatewayEvent, { passage }: GatewayContext): Promise<GatewayAnswer> => {
      const body = JSON.stringify(await answer(passage, event))
      return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body }
    })
}
