import { expect as assert, describe, test } from '@jest/globals'
import type { FunctionName } from '../../layers/gateway/contract.ts'
import type { Passage } from '../../layers/gateway/flow/passage.ts'
import { expect } from '../../layers/gateway/middleware/expect.ts'

async function refusalOf(name: FunctionName, method: string, rawPath: string) {
  const passage = {} as Passage
  await expect(name).before?.({
    event: { rawPath, requestContext: { http: { method } } },
    context: { passage },
  } as never)
  return passage.refusal
}

describe('a call at the wrong address', () => {
  test.each([
    ['fallback', 'POST', '/v1/chat/completions'],
    ['chat', 'GET', '/v1/models'],
    ['chat', 'GET', '/v1/key/introspect'],
    ['fallback', 'GET', '/v1/models/x'],
  ] as const)('that reaches %s with %s %s is refused with 404, and is nobody’s fault', async (name, method, path) => {
    assert(await refusalOf(name, method, path)).toMatchObject({ status: 404, code: 'not_found' })
  })

  test('at the right one is not refused', async () => {
    assert(await refusalOf('chat', 'POST', '/v1/chat/completions')).toBeUndefined()
  })
})
