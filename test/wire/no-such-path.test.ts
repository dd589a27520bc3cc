import { describe, expect, test } from '@jest/globals'
import { endpointNamed, type FunctionName } from '../../layers/gateway/endpoints.ts'
import type { GatewayEvent, OpenedRequest } from '../../layers/gateway/flow/request.ts'
import { matchEndpoint } from '../../layers/gateway/middleware/match-endpoint.ts'
import { noEndpoint } from '../../layers/gateway/wire/requests/find-route.ts'
import { noSuchPath } from '../../layers/gateway/wire/requests/no-such-path.ts'
import { Random } from '../simulation/random.ts'
import { FUNCTION_NAMES } from '../support/functions.ts'
import { openBoth } from '../support/stack.ts'

const { gateway } = await openBoth()

const AZURE = /a path of Azure’s.*Use OpenAI’s own client.* goes to POST \/v1\/chat\/completions\.$/
const TWICE = /the base URL has '\/v1' twice\..* goes to /
const LACKS = /the base URL lacks '\/v1'\..* goes to /
const IN_IT = /the base URL has an endpoint in it\..* with one '\/v1' and nothing after it/
const SLASHES = /it has two slashes in a row\./

const CALLS: readonly [method: string, path: string, says: RegExp, right: string][] = [
  ['POST', '/v1/v1/chat/completions', TWICE, 'POST /v1/chat/completions.'],
  ['GET', '/v1/v1/models', TWICE, 'GET /v1/models.'],
  ['GET', '/v1/v1/models/openai/gpt-4o', TWICE, 'GET /v1/models/openai/gpt-4o.'],
  [
    'POST',
    '/v1/v1/messages',
    /twice.*with none for a client that adds it, as Anthropic’s SDKs do/,
    'POST /v1/messages.',
  ],
  ['POST', '/v1/v1/v1/responses', /the base URL has '\/v1' 3 times/, 'POST /v1/responses.'],
  ['POST', '/chat/completions', LACKS, 'POST /v1/chat/completions.'],
  ['GET', '/chat/completions', LACKS, 'POST /v1/chat/completions.'],
  ['POST', '/responses', LACKS, 'POST /v1/responses.'],
  ['POST', '/completions', LACKS, 'POST /v1/completions.'],
  ['POST', '/embeddings', LACKS, 'POST /v1/embeddings.'],
  ['POST', '/messages/count_tokens', LACKS, 'POST /v1/messages/count_tokens.'],
  ['GET', '/models/gpt-4o', LACKS, 'GET /v1/models/gpt-4o.'],
  ['GET', '/key/introspect', LACKS, 'GET /v1/key/introspect.'],
  ['GET', '/usage/req_1', LACKS, 'GET /v1/usage/req_1.'],
  ['POST', '/v1/chat/completions/chat/completions', IN_IT, 'POST /v1/chat/completions.'],
  ['POST', '/v1/chat/completions/responses', IN_IT, 'POST /v1/responses.'],
  ['POST', '/v1/messages/v1/messages', IN_IT, 'POST /v1/messages.'],
  ['GET', '/v1/chat/completions/models', IN_IT, 'GET /v1/models.'],
  ['POST', '/openai/v1/chat/completions', /has '\/openai\/v1' in place of '\/v1'/, 'POST /v1/chat/completions.'],
  ['POST', '/api/chat/completions', /has '\/api' in place of '\/v1'/, 'POST /v1/chat/completions.'],
  ['GET', '/v2/models', /has '\/v2' in place of '\/v1'/, 'GET /v1/models.'],
  ['POST', '/openai/deployments/gpt-4o/chat/completions', AZURE, 'POST /v1/chat/completions.'],
  ['POST', '//v1/chat/completions', SLASHES, 'POST /v1/chat/completions.'],
  ['POST', '/v1//chat/completions', SLASHES, 'POST /v1/chat/completions.'],
  ['GET', '/v1/models//', SLASHES, 'GET /v1/models.'],
  ['POST', '/V1/Chat/Completions', /a blank or a capital letter/, 'POST /v1/chat/completions.'],
  ['POST', '/v1%20/chat/completions', /a blank or a capital letter/, 'POST /v1/chat/completions.'],
  ['POST', '/v1/chat/completion', /Did you mean \/v1\/chat\/completions\?/, ''],
  ['GET', '/v1/nothing', /The endpoints are .*GET \/v1\/models\/ID,/, ''],
]

test.each(CALLS)('the call %s %s says what is wrong with the base URL', async (method, path, says, right) => {
  const answer = await fetch(`${gateway.baseUrl}${path}`, { method })
  const { error } = (await answer.json()) as { error: { message: string; code: string } }
  // Anthropic's shape, for a path that begins as theirs, has no code.
  expect([answer.status, error.code ?? 'not_found']).toEqual([404, 'not_found'])
  expect(error.message).toMatch(says)
  expect(error.message).toContain(right)
})

test.each(['/v1', '/v1/', '/v1/v1', '//'])('a browser at %s reads what this is and how to use it', async (path) => {
  const answer = await fetch(`${gateway.baseUrl}${path}`)
  const { error } = (await answer.json()) as { error: { message: string } }
  expect(answer.status).toBe(404)
  expect(error.message).toMatch(
    /a gateway to models.* OpenAI SDK to this address with '\/v1'.*POST \/v1\/chat\/completions/,
  )
})

describe('wherever a path leads in AWS', () => {
  const pass = async (name: FunctionName, method: string, rawPath: string) => {
    const request = { endpoint: endpointNamed('unknown') } as OpenedRequest
    await matchEndpoint(name)(request, { rawPath, requestContext: { http: { method } } } as GatewayEvent)
    return request.isNowhere ? noEndpoint(method, rawPath) : undefined
  }

  test.each(FUNCTION_NAMES)('the function %s says the same', async (name) => {
    for (const [method, path, says] of CALLS) {
      expect(await pass(name, method, path)).toMatchObject({ status: 404, message: expect.stringMatching(says) })
    }
  })

  test.each(FUNCTION_NAMES)('the function %s shows no pattern of a path', async (name) => {
    for (const path of ['/v1/models/x', '/v1/usage/req_1', '/v1/none', '/', '/models']) {
      for (const method of ['GET', 'POST']) expect((await pass(name, method, path))?.message ?? '').not.toMatch(/[{}]/)
    }
  })
})

test('a path of any steps is refused in words of a bounded length', () => {
  const random = new Random(1)
  const steps = ['v1', 'chat', 'completions', 'models', '', '%', '%2F', '..', 'x'.repeat(3_000), 'deployments', '{id+}']
  for (let i = 0; i < 2_000; i++) {
    const path = `/${Array.from({ length: random.below(20) }, () => random.pick(steps)).join('/')}`
    const { message, status } = noSuchPath(random.pick(['GET', 'POST', 'PUT']), path)
    expect(message.length).toBeLessThan(800)
    expect(status).toBe(404)
  }
})
