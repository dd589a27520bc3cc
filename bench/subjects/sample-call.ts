import { type ApiFunctionName, endpointsOf } from '../../layers/gateway/endpoints.ts'

/** For a quote of a model that nobody has. */
const BODY = {
  endpoint: '/v1/chat/completions',
  body: { model: 'nope', messages: [{ role: 'user', content: 'Hello' }] },
}

/** A call that a function answers: at its first route, with an id that nobody has. The fallback has none: any other path. */
export function sampleCall(name: ApiFunctionName) {
  const { method, path } = endpointsOf(name)[0]?.routes[0] ?? { method: 'GET' as const, path: '/v1/nope' }
  return {
    method,
    path: path.replace(/\{id\+?\}/, 'req_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
    ...(method === 'POST' && { body: BODY }),
  }
}
