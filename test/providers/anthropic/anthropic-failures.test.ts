import { expect, test } from '@jest/globals'
import { type Reply, sse, status } from '../../support/upstream.ts'
import { error, KEY, messageDelta, openAnthropic, PING, start, stream, textBlock } from './anthropic-fixtures.ts'

const { upstream, gateway } = await openAnthropic()

async function ask(reply: Reply, request: object = {}) {
  upstream.reply = reply
  const asked = await gateway.ask(request)
  return { ...asked, attempts: asked.row.attempts.map(({ result }) => result) }
}

const refusal = (code: number, type: string, message: string) => status(code, error(type, message))

test.each([
  [400, 'invalid_request_error', 400, 'rejected 400'],
  [401, 'authentication_error', 502, 'credential 401'],
  [402, 'billing_error', 502, 'forbidden 402'],
  [403, 'permission_error', 502, 'forbidden 403'],
  [404, 'not_found_error', 502, 'status 404'],
  [409, 'conflict_error', 502, 'status 409'],
  [413, 'request_too_large', 413, 'rejected 413'],
  [422, 'invalid_request_error', 400, 'rejected 422'],
  [429, 'rate_limit_error', 503, 'status 429'],
  [500, 'api_error', 502, 'status 500'],
  [504, 'timeout_error', 504, 'timeout 504'],
  [529, 'overloaded_error', 502, 'status 529'],
])(
  'Anthropic’s %i %s is answered with %i for free, and only a complaint about the request is quoted',
  async (code, type, told, result) => {
    for (const request of [{}, { stream: true }]) {
      const answer = await ask(refusal(code, type, `About ${KEY}: max_tokens is odd.`), request)
      expect([answer.status, answer.attempts]).toEqual([told, [result]])
      expect(answer.row).toMatchObject({ cost: 0n, usageSource: 'none' })
      expect(answer.text.includes('max_tokens is odd')).toBe(told < 500)
      expect(answer.text).not.toContain(KEY)
    }
  },
)

test.each([
  [
    'credit balance',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.',
  ],
  [
    'usage limits',
    'You have reached your specified API usage limits. You will regain access on 2030-01-01 at 00:00 UTC.',
  ],
  [
    'workspace limits',
    'You have reached your specified workspace API usage limits. You will regain access on 2030-01-01.',
  ],
])('Anthropic’s 400 about the operator’s %s is a 502 that does not quote it', async (_, message) => {
  const answer = await ask(refusal(400, 'invalid_request_error', message))
  expect([answer.status, answer.attempts]).toEqual([502, ['credential 400']])
  expect(answer.text).not.toContain('limits')
  expect(answer.text).not.toContain('credit')
})

test('an Anthropic error event before the first token is a 502 and costs nothing', async () => {
  for (const request of [{}, { stream: true }]) {
    const answer = await ask(stream(start(), PING, error('overloaded_error', 'Overloaded: a secret')), request)
    expect([answer.status, answer.attempts]).toEqual([502, ['error_event']])
    expect(answer.text).toContain('(overloaded_error)')
    expect(answer.text).not.toContain('secret')
    expect(answer.row.cost).toBe(0n)
  }
})

test('an Anthropic error event after the first token is told in the stream, and the delivered part is charged', async () => {
  const reply = stream(start(), ...textBlock(0, 'The quick brown fox'), error('api_error', 'Internal: a secret'))
  const streamed = await ask(reply, { stream: true })
  expect(streamed.status).toBe(200)
  expect(streamed.text).toContain('The quick brown fox')
  expect(streamed.text).toContain('"code":"upstream_error"')
  expect(streamed.text).not.toMatch(/secret|\[DONE\]|"finish_reason":"/)
  // Not the one output token that message_start reports.
  expect(streamed.row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate', completionTokens: 4 })
  const whole = await ask(reply)
  expect(whole).toMatchObject({ status: 502, row: { usageSource: 'estimate', completionTokens: 4 } })
})

test.each([
  ['in the middle', [start(), ...textBlock(0, 'Hel')]],
  ['after its stop reason', [start(), ...textBlock(0, 'Hel'), messageDelta('end_turn')]],
  ['after its start', [start()]],
  ['without an event', []],
])('an Anthropic stream that ends %s is not taken for a whole answer, and is paid', async (_, events) => {
  const answer = await ask(stream(...events))
  expect(answer.status).toBe(502)
  expect(answer.row).toMatchObject({ outcome: 'upstream_error' })
  expect(answer.row.cost).toBeGreaterThan(0n)
})

test.each<[string, Reply, string]>([
  ['no text', stream(start(), { type: 'message_stop' }), 'empty'],
  ['an event that is not JSON', sse(['data: {"type"\n\n']), 'protocol'],
  ['an event that is not an object', sse(['data: 7\n\n']), 'protocol'],
  ['JSON that is not a message', status(200, { hello: 'world' }), 'empty'],
  ['an error as JSON', status(200, error('api_error', 'Internal')), 'error_event'],
])('an Anthropic reply with %s is an upstream error', async (_, reply, reason) => {
  const answer = await ask(reply)
  expect([answer.status, answer.attempts]).toEqual([502, [reason]])
})

test('no word of Anthropic’s error messages is logged', () => {
  expect(gateway.logLines.length).toBeGreaterThan(0)
  expect(gateway.logLines.join('\n')).not.toMatch(/secret|max_tokens is odd|sk-ant/)
})
