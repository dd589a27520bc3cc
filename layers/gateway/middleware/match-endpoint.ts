import { loadContract } from '../contracts/contracts.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { plainLine } from '../domain/plain-text.ts'
import { type Endpoint, endpointsOf, type FunctionName } from '../endpoints.ts'
import type { OpenedRequest } from '../request.ts'
import { findRoute } from '../wire/find-route.ts'
import type { Gate, GatewayEvent } from './gate.ts'

const MOST_SHOWN = 100

/** Refuses a call that is for none of this function's endpoints. With a key, the answer has the key's headers. */
export function matchEndpoint(name: FunctionName): Gate<OpenedRequest, OpenedRequest> {
  return {
    pass: (request, event) => {
      const found = endpointFor(name, event)
      if (found instanceof Promise) return found.then((refusal) => matched(request, event, refusal))
      return matched(request, event, found)
    },
  }

  function matched(request: OpenedRequest, { rawPath }: GatewayEvent, found: Endpoint | GatewayError) {
    if (found instanceof GatewayError) {
      request.endpoint = nearestTo(rawPath) ?? request.endpoint
      request.refusal = found
    } else request.endpoint = found
    return loadContract(request.endpoint)?.then(() => request) ?? request
  }

  /** The endpoint whose path is the beginning of this one, so that the refusal is in its contract. */
  function nearestTo(path: string): Endpoint | undefined {
    return endpointsOf(name).find(
      ({ contract, routes }) => contract && routes.some((route) => path.startsWith(route.path)),
    )
  }
}

function endpointFor(name: FunctionName, event: GatewayEvent): Endpoint | GatewayError | Promise<GatewayError> {
  const { method } = event.requestContext.http
  const found = findRoute(method, event.rawPath)
  if (found instanceof GatewayError) {
    if (found.kind !== 'not_found') return found
    return import('#advice').then(({ noSuchPath }) => noSuchPath(method, event.rawPath))
  }
  const { endpoint } = found.route
  return endpoint.function === name ? endpoint : notHere(method, event.rawPath)
}

/** Without a distribution in front, chat and the API have an address each. */
function notHere(method: string, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `${method} ${plainLine(path, MOST_SHOWN)} is not served at this address. Chat completions have an address of their own (the stack's output ChatUrl), everything else has another (ApiUrl).`,
  )
}
