import { expect, test } from '@jest/globals'
import { endpointNamed, type FunctionName } from '../../layers/gateway/endpoints.ts'
import type { GatewayEvent, OpenedRequest } from '../../layers/gateway/flow/request.ts'
import { matchEndpoint } from '../../layers/gateway/middleware/match-endpoint.ts'
import { noEndpoint } from '../../layers/gateway/wire/requests/find-route.ts'

async function refusalOf(name: FunctionName, method: string, rawPath: string) {
  const request = { endpoint: endpointNamed('unknown') } as OpenedRequest
  await matchEndpoint(name)(request, { rawPath, requestContext: { http: { method } } } as GatewayEvent)
  return request.isNowhere ? noEndpoint(method, rawPath) : undefined
}

test.each([
  ['api', 'POST', '/v1/chat/completions'],
  ['chat', 'GET', '/v1/models'],
  ['chat', 'GET', '/v1/key/introspect'],
] as const)('the function %s refuses %s %s, which is not its own, with 404', async (name, method, path) => {
  expect(await refusalOf(name, method, path)).toMatchObject({ status: 404, code: 'not_found' })
})

test.each([
  ['chat', 'POST', '/v1/chat/completions'],
  ['chat', 'POST', '/v1/chat/completions/'],
  ['api', 'HEAD', '/v1/models'],
  ['api', 'GET', '/v1/models/'],
  ['api', 'GET', '/v1/key/introspect/'],
  ['api', 'HEAD', '/v1/usage/req_1/'],
] as const)('the function %s does not refuse %s %s, which is its own', async (name, method, path) => {
  expect(await refusalOf(name, method, path)).toBeUndefined()
})
