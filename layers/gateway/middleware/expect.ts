import type { FunctionName } from '../contract.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { findRoute } from '../wire/find-route.ts'
import type { Gate } from './gate.ts'

/** A call that reached this function but is not for it will be refused, with its key's headers if it has a key. */
export function expect(name: FunctionName): Gate {
  return {
    before: ({ event, context: { passage } }) => {
      const { method } = event.requestContext.http
      const found = findRoute(method, event.rawPath)
      if (found instanceof GatewayError) passage.refusal = found
      else if (found.route.function !== name) passage.refusal = notHere(method, found.route.path)
    },
  }
}

/** Chat and the rest have an address each; only the distribution in front of both takes everything. */
function notHere(method: string, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `${method} ${path} is not served at this address. Chat completions have an address of their own (the stack's output ChatUrl), everything else has another (ApiUrl); BaseUrl, where there is one, takes both.`,
  )
}
