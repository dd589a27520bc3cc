import type { FunctionName } from '../contract.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { findRoute } from '../wire/find-route.ts'
import type { Gate } from './gate.ts'

/** A call that reached this function but is not for it will be refused, with its key's headers if it has a key. */
export function expect(name: FunctionName): Gate {
  return {
    before: ({ event, context: { passage } }) => {
      const found = findRoute(event.requestContext.http.method, event.rawPath)
      if (found instanceof GatewayError) passage.refusal = found
      else if (found.route.function !== name) throw new Error(`${event.rawPath} was sent to ${name}`)
    },
  }
}
