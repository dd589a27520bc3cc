import { type EndpointName, endpointNamed } from '../../../layers/gateway/endpoints.ts'

/** For a quote of a model that nobody has. */
const BODY = {
  endpoint: '/v1/chat/completions',
  body: { model: 'nope', messages: [{ role: 'user', content: 'Hello' }] },
}

/** A call to an endpoint: at its first route, with an id that nobody has. A path of no endpoint is any other. */
export function sampleCall(name: EndpointName) {
  const { method, path } = endpointNamed(name).routes[0] ?? { method: 'GET' as const, path: '/v1/nope' }
  return {
    method,
    path: path.replace(/\{id\+?\}/, 'req_01ARZ3NDEKTSV4RRFFQ69G5FAV'),
    ...(method === 'POST' && { body: BODY }),
  }
}
