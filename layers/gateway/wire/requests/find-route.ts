import { GatewayError } from '../../domain/basics/gateway-error.ts'
import { plainLine } from '../../domain/basics/plain-text.ts'
import { type Endpoint, type FunctionName, HTTP_ROUTES, type HttpRoute } from '../../endpoints.ts'
import { pathMatcher, wrongMethod } from '../basics/match-path.ts'

type FoundRoute = { readonly route: HttpRoute; readonly id: string | undefined }

/** Or the refusal of the method. HEAD is accepted as GET is, and a slash at the end of a path is ignored. */
export function findRoute(method: string, path: string): FoundRoute | GatewayError {
  const fixed = FIXED.get(path)
  if (fixed && fixed.method === method) return { route: fixed, id: undefined }
  const matches = matchesOf(path.endsWith('/') ? path.slice(0, -1) : path)
  const wanted = method === 'HEAD' ? 'GET' : method
  const found = matches.find(({ route }) => route.method === wanted)
  if (found) return { route: found.route, id: decode(found.parameters.id) }
  if (matches.length === 0) return new GatewayError('not_found', 'There is nothing here.')
  const allowed = matches.map(({ route }) => (route.method === 'GET' ? 'GET, HEAD' : route.method)).join(', ')
  return new GatewayError('method_not_allowed', wrongMethod(method, path, allowed), { headers: { Allow: allowed } })
}

export function idInPath(path: string): string | undefined {
  const found = findRoute('GET', path)
  return 'id' in found ? found.id : undefined
}

/** Nearly every call is to one of these paths, which have no parameters. No two routes have the same one. */
const FIXED = new Map(HTTP_ROUTES.filter(({ path }) => !path.includes('{')).map((route) => [route.path, route]))

const matchesOf = pathMatcher(HTTP_ROUTES)

function decode(id: string | undefined): string | undefined {
  try {
    return id === undefined ? undefined : decodeURIComponent(id)
  } catch {
    return id
  }
}

export function findEndpoint(name: FunctionName, method: string, path: string): Endpoint | undefined {
  const found = findRoute(method, path)
  if (found instanceof GatewayError) return undefined
  const { endpoint } = found.route
  return endpoint.function === name ? endpoint : undefined
}

export async function noEndpoint(method: string, path: string): Promise<GatewayError> {
  const found = findRoute(method, path)
  if (!(found instanceof GatewayError)) return notHere(method, path)
  if (found.kind !== 'not_found') return found
  const { noSuchPath } = await import('#advice')
  return noSuchPath(method, path)
}

/** Chat and the API have an address each where no distribution is in front. */
function notHere(method: string, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `${method} ${plainLine(path, 100)} is not served at this address. Chat completions have an address of their own (the stack's output ChatUrl), everything else has another (ApiUrl).`,
  )
}
