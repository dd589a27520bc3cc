import { loadContract } from '../contracts/contracts.ts'
import { type Endpoint, endpointsOf, type FunctionName } from '../endpoints.ts'
import { findEndpoint } from '../wire/requests/find-route.ts'
import type { Gate } from './gate.ts'

/** A call that is for no endpoint is refused later: with a key, it counts against the key's limits. */
export function matchEndpoint(name: FunctionName): Gate {
  return (request, { rawPath, requestContext }) => {
    const found = findEndpoint(name, requestContext.http.method, rawPath)
    request.endpoint = found ?? nearestTo(rawPath) ?? request.endpoint
    if (!found) request.isNowhere = true
    return loadContract(request.endpoint)
  }

  /** The endpoint whose path is the beginning of this one, so that the refusal is in its contract. */
  function nearestTo(path: string): Endpoint | undefined {
    return endpointsOf(name).find(
      ({ contract, routes }) => contract && routes.some((route) => path.startsWith(route.path)),
    )
  }
}
