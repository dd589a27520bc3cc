import { describe, expect, test } from '@jest/globals'
import type { FunctionName } from '../../layers/gateway/contract.ts'
import type { GatewayEvent } from '../../layers/gateway/middleware/gate.ts'
import { matchEndpoint } from '../../layers/gateway/middleware/match-endpoint.ts'
import type { OpenedRequest } from '../../layers/gateway/request.ts'

async function refusalOf(name: FunctionName, method: string, rawPath: string) {
  const event = { rawPath, requestContext: { http: { method } } } as GatewayEvent
  return (await matchEndpoint(name).pass({} as OpenedRequest, event)).refusal
}

describe('a call at the wrong address', () => {
  test.each([
    ['fallback', 'POST', '/v1/chat/completions'],
    ['chat', 'GET', '/v1/models'],
    ['chat', 'GET', '/v1/key/introspect'],
    ['fallback', 'GET', '/v1/models/x'],
  ] as const)('that reaches %s with %s %s is refused with 404, and is nobody’s fault', async (name, method, path) => {
    expect(await refusalOf(name, method, path)).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('at the right one is not refused', async () => {
    expect(await refusalOf('chat', 'POST', '/v1/chat/completions')).toBeUndefined()
  })
})
