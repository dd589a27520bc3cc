import { expect, test } from '@jest/globals'
import { LAZY_CONTRACTS } from '../../../layers/gateway/contracts/lazy-contracts.ts'
import { readRequest } from '../../../layers/gateway/contracts/responses/read-request.ts'
import { NO_BILL } from '../../../layers/gateway/domain/money/bill.ts'
import { response } from '../../sdk/support/answers.ts'
import { SCENARIOS } from '../../sdk/support/scenarios.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, say, sse, USAGE } from '../../support/upstream.ts'
import { ask, eventsIn, gatherItems, HELLO, requireConsistent } from './ask.ts'

const { upstream, gateway } = await openBoth()

type Call = { id: string; function?: { name: string; arguments: string }; custom?: { name: string; input: string } }

/** The items that the message of a chat completion becomes. */
function itemsOf(said: Readonly<Record<string, unknown>>): object[] {
  const message = [
    ...(said.content ? [{ type: 'output_text', text: said.content }] : []),
    ...(said.refusal ? [{ type: 'refusal', refusal: said.refusal }] : []),
  ]
  const legacy = said.function_call as Call['function']
  return [
    ...(message.length > 0 ? [{ type: 'message', content: message }] : []),
    ...((said.tool_calls ?? []) as Call[]).map(({ id, function: fn, custom }) =>
      fn
        ? { type: 'function_call', call_id: id, name: fn.name, arguments: fn.arguments || '{}' }
        : { type: 'custom_tool_call', call_id: id, ...custom },
    ),
    ...(legacy ? [{ type: 'function_call', ...legacy }] : []),
  ]
}

const REASONS: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' }

// One answer was asked for: of several that an upstream gives all the same, the first is told.
test.each(Object.entries(SCENARIOS))(
  'a response follows OpenAI’s schema and says what the model said, whole and streamed: %s',
  async (_, { reply, says }) => {
    upstream.reply = reply
    const { secret } = await gateway.issue()
    const said = says[0] ?? { finish_reason: 'stop' }
    const reason = REASONS[said.finish_reason]
    const ending = { status: reason ? 'incomplete' : 'completed', incomplete_details: reason ? { reason } : null }

    const whole = response.parse(await (await ask(gateway, secret, HELLO)).json())
    expect(whole).toMatchObject({ ...ending, model: 'test-model', output: itemsOf(said) })

    const stream = await ask(gateway, secret, { ...HELLO, stream: true })
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const events = eventsIn(await stream.text())
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
    expect(events.at(-1)).toMatchObject({ type: `response.${ending.status}`, response: ending })
    for (const { completed_at, created_at } of [whole, response.parse(Object(events.at(-1)).response)]) {
      if (reason) expect(completed_at).toBeNull()
      else expect(completed_at).toBeGreaterThanOrEqual(created_at)
    }
    requireConsistent(events)
    expect(gatherItems(events)).toMatchObject(itemsOf(said))
  },
)

test('a provider’s proofs of its thoughts travel through the client and come back as they were', async () => {
  const signed = { type: 'reasoning.text', signature: 'sig', format: 'anthropic-claude-v1' }
  const sealed = { type: 'reasoning.encrypted', data: 'c2VhbGVk', format: 'anthropic-claude-v1' }
  upstream.reply = sse([
    chunk({ reasoning_content: 'One.' }),
    chunk({ reasoning_details: [{ ...signed, index: 0 }] }),
    chunk({ reasoning_details: [{ ...sealed, index: 1 }] }),
    chunk({ reasoning_content: 'Two.' }),
    chunk({ reasoning_details: [{ ...signed, signature: 'gis', index: 2 }] }),
    chunk({ content: 'Yes.' }),
    chunk({}, 'stop'),
    DONE,
  ])
  const { secret } = await gateway.issue()
  const { output } = response.parse(await (await ask(gateway, secret, HELLO)).json())
  expect(output.map(({ type }) => type)).toEqual(['reasoning', 'reasoning', 'message'])
  const next = { ...HELLO, input: [...output, { role: 'user', content: 'And?' }] }
  expect(readRequest({ value: next, bytes: 0, callerId: 'key' }).body.messages).toMatchObject([
    {
      role: 'assistant',
      content: 'Yes.',
      reasoning_content: 'One.\n\nTwo.',
      reasoning_details: [
        { ...signed, text: 'One.', index: 0 },
        { ...sealed, index: 1 },
        { ...signed, signature: 'gis', text: 'Two.', index: 2 },
      ],
    },
    { role: 'user', content: 'And?' },
  ])
})

test('log probabilities are told if they were asked for', async () => {
  const top = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105] }]
  const logprob = { token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: top }
  upstream.reply = sse([
    chunk({}, null, {
      choices: [{ index: 0, delta: { content: 'Hi' }, logprobs: { content: [logprob] }, finish_reason: 'stop' }],
    }),
    DONE,
  ])
  const { secret } = await gateway.issue()
  const request = { ...HELLO, include: ['message.output_text.logprobs'], top_logprobs: 1 }
  const whole = response.parse(await (await ask(gateway, secret, request)).json())
  const told = { ...logprob, bytes: [] }
  expect(whole.output).toMatchObject([{ content: [{ logprobs: [told] }] }])
  expect(upstream.requests.at(-1)?.body).toMatchObject({ logprobs: true, top_logprobs: 1 })
  const events = eventsIn(await (await ask(gateway, secret, { ...request, stream: true })).text())
  expect(events).toContainEqual(expect.objectContaining({ type: 'response.output_text.delta', logprobs: [told] }))
  const silent = response.parse(await (await ask(gateway, secret, HELLO)).json())
  expect(silent.output).toMatchObject([{ content: [{ logprobs: [] }] }])
})

test('a response repeats the request, tells that nothing is stored, and tells its usage and exact cost', async () => {
  const details = { completion_tokens_details: { reasoning_tokens: 3 }, prompt_tokens_details: { cached_tokens: 4 } }
  upstream.reply = say('Hello', { ...USAGE, ...details })
  const { secret } = await gateway.issue()
  const asked = {
    instructions: 'Be brief.',
    max_output_tokens: 100,
    metadata: { run: '7' },
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    store: true,
    temperature: 0.5,
    text: { format: { type: 'json_object' }, verbosity: 'low' },
    tool_choice: 'none',
    top_p: 0.9,
    truncation: 'auto',
    user: 'u',
    prompt_cache_key: 'k',
    tools: [{ type: 'function', name: 'f' }],
  }
  const answer = await ask(gateway, secret, { ...HELLO, ...asked })
  const whole = response.parse(await answer.json())
  expect(whole).toMatchObject({ ...asked, store: false, tools: [{ type: 'function', name: 'f', strict: false }] })
  expect(whole.id).toBe(answer.headers.get('x-request-id')?.replace('req_', 'resp_'))
  expect(whole.usage).toEqual({
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 15,
    cost: 0.000018,
  })
})

test('a response repeats the penalties and the user of its request, or has their defaults', async () => {
  const { secret } = await gateway.issue()
  const fields = { presence_penalty: 1.5, frequency_penalty: -0.5, user: 'u-1' }
  const asked = async (more: object) => response.parse(await (await ask(gateway, secret, { ...HELLO, ...more })).json())
  expect(await asked(fields)).toMatchObject(fields)
  expect(await asked({})).toMatchObject({ presence_penalty: 0, frequency_penalty: 0, user: null })
})

test('a stream whose cost turned out otherwise ends with the same events and the other cost', () => {
  const chat = readRequest({ value: HELLO, bytes: 0, callerId: 'key' })
  const stream = LAZY_CONTRACTS.responses.openStream({ requestId: 'req_1', nowMs: 1_000, model: 'test-model', chat })
  const delta = { content: 'Hello' }
  const said = stream.choice({ kind: 'choice', index: 0, delta, logprobs: null, finishReason: null })
  const [first, second] = [1n, 2n].map((cost) => {
    const bill = { ...NO_BILL, cost }
    const { lastFrame } = LAZY_CONTRACTS.responses
    return eventsIn(said + stream.end({ bill, reported: undefined, endedMs: 3_999 }) + lastFrame)
  })
  expect(second?.slice(0, -1)).toEqual(first?.slice(0, -1))
  expect([first, second].map((events) => events?.at(-1))).toMatchObject([
    { type: 'response.completed', response: { created_at: 1, completed_at: 3, usage: { cost: 1e-9 } } },
    { type: 'response.completed', response: { usage: { cost: 2e-9 } } },
  ])
})
