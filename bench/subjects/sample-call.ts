import { type ApiFunctionName, ENDPOINTS, type EndpointRecord } from '../../layers/gateway/contract.ts'

/** A call that a function answers: at its first route, with an id that nobody has. The fallback has none: any other path. */
export function sampleCall(name: ApiFunctionName) {
  const { routes }: EndpointRecord = ENDPOINTS[name]
  const { method, path } = routes[0] ?? { method: 'GET' as const, path: '/v1/nope' }
  return { method, path: path.replace(/\{id\+?\}/, 'req_01ARZ3NDEKTSV4RRFFQ69G5FAV') }
}
