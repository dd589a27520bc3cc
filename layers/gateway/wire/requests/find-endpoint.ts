import { GatewayError } from '../../domain/basics/gateway-error.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import type { Endpoint, FunctionName } from '../../endpoints.ts'
import { findRoute } from './find-route.ts'

const MOST_SHOWN = 100

/** The endpoint of this function for a call; undefined if the call is for none. */
export function findEndpoint(name: FunctionName, method: string, path: string): Endpoint | undefined {
  const found = findRoute(method, path)
  if (found instanceof GatewayError) return undefined
  const { endpoint } = found.route
  return endpoint.function === name ? endpoint : undefined
}

/** The refusal of a call that is for no endpoint of the function that it reached. */
export async function noEndpoint(method: string, path: string): Promise<GatewayError> {
  const found = findRoute(method, path)
  if (!(found instanceof GatewayError)) return notHere(method, path)
  if (found.kind !== 'not_found') return found
  const { noSuchPath } = await import('#advice')
  return noSuchPath(method, path)
}

/** Without a distribution in front, chat and the API have an address each. */
function notHere(method: string, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `${method} ${plainLine(path, MOST_SHOWN)} is not served at this address. Chat completions have an address of their own (the stack's output ChatUrl), everything else has another (ApiUrl).`,
  )
}
