import { type ApiFunctionName, endpointsOf } from '../../layers/gateway/endpoints.ts'

/** A call that a function answers: at its first route, with an id that nobody has. The fallback has none: any other path. */
export function sampleCall(name: ApiFunctionName) {
  const { method, path } = endpointsOf(name)[0]?.routes[0] ?? { method: 'GET' as const, path: '/v1/nope' }
  return { method, path: path.replace(/\{id\+?\}/, 'req_01ARZ3NDEKTSV4RRFFQ69G5FAV') }
}
