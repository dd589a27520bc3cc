import { describe, expect, test } from '@jest/globals'
import { sealedBy } from '../../../layers/gateway/wire/chat/sealed-content.ts'
import { HELLO as ASKED, ask, eventsIn, requireConsistent } from '../../contracts/responses/ask.ts'
import { completion, response } from '../../sdk/support/answers.ts'
import { gather } from '../../sdk/support/gather.ts'
import { readChunks } from '../../sdk/support/read-chunks.ts'
import { HELLO } from '../../support/gateway.ts'
import { type Reply, sse, status } from '../../support/upstream.ts'
import { ALIAS, testSent } from '../support/sent.ts'
import {
  answering,
  CREATED,
  call,
  completed,
  customCall,
  type Event,
  eventsOf,
  frames,
  KEY,
  message,
  openResponses,
  responseOf,
  saying,
  thought,
  USAGE,
} from './responses-upstream.ts'

const { upstream, gateway } = await openResponses()

const sent = () => upstream.requests.at(-1)?.body ?? {}

async function chat(request: object = {}, reply: Reply = saying('Hello')) {
  upstream.reply = reply
  const asked = await gateway.ask(request)
  expect(asked.text).not.toContain(KEY)
  return asked
}

describe('requests', () => {
  const own = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAsealed' }
  const item = { type: 'message', role: 'user', content: 'Hi' }
  const call1 = { type: 'function_call', call_id: 'c1', namespace: 'n', name: 'f', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
  const asked = {
    instructions: 'Be brief.',
    tools: [
      { type: 'namespace', name: 'n', description: 'N', tools: [{ type: 'function', name: 'f' }] },
      { type: 'custom', name: 'c' },
    ],
    text: { verbosity: 'low', format: { type: 'text' } },
    truncation: 'auto',
    temperature: 0.5,
    max_output_tokens: 60,
  }

  testSent('responses', {
    'a response is asked in the caller’s own words, without our ids and foreign thoughts': [
      {
        ...asked,
        input: [
          { ...item, id: 'msg_1' },
          own,
          { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 'x' }] },
          { type: 'reasoning', id: 'rs_3', summary: [], encrypted_content: 'thoughts.v1.W10' },
          { ...call1, id: 'fc_1' },
          result,
        ],
        prompt_cache_key: 'k',
        store: true,
        metadata: { a: 'b' },
        client_metadata: {},
        include: ['web_search_call.results', 'message.output_text.logprobs'],
        reasoning: { effort: 'high', summary: 'auto', generate_summary: null },
      },
      {
        responses: {
          ...asked,
          prompt_cache_key: ALIAS,
          include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
          reasoning: { effort: 'high', summary: 'auto' },
          input: [item, own, call1, result],
        },
      },
    ],
  })

  test('a request has the key as its bearer', async () => {
    await chat()
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`)
  })

  const user = (part: object) => ({ messages: [{ role: 'user', content: [part] }] })
  const UNNAMED = { role: 'assistant', tool_calls: [{ function: { name: 'f' } }] }

  test.each<[string, object, string]>([
    ['stop', { stop: 'END' }, 'no stop texts'],
    ['n', { n: 2 }, 'must be 1'],
    ['service_tier', { service_tier: 'gold' }, 'default'],
    ['plugins', { plugins: [] }, 'what the provider bills'],
    ['tools[0]', { tools: [{ type: 'web_search' }] }, 'function'],
    ['tools[0].function.name', { tools: [{ type: 'function' }] }, 'must be a string'],
    ['tool_choice.type', { tool_choice: { type: 'file_search' } }, 'allowed_tools'],
    ['response_format.type', { response_format: { type: 'xml' } }, 'json_schema'],
    ['messages[0].role', { messages: [{ role: 'function', content: 'x' }] }, "use 'tool'"],
    ['messages[0].content[0]', user({ type: 'video_url' }), 'does not take here'],
    ['messages[0].content[0].file.file_id', user({ type: 'file', file: { file_id: 'f' } }), "'file_data'"],
    ['messages[0].tool_calls[0].id', { messages: [UNNAMED] }, 'the id'],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }, 'the id'],
  ])('a chat with a %s that Responses has no words for is a 400 that names it', async (param, request, words) => {
    const asked = upstream.requests.length
    const { status: code, text } = await chat(request)
    expect([code, JSON.parse(text)]).toMatchObject([400, { error: { param, message: expect.stringContaining(words) } }])
    expect(upstream.requests).toHaveLength(asked)
  })

  test('a field passes if the operator allows it, and is left out if the operator says so', async () => {
    const allowing = await openResponses({}, { allowFields: ['plugins'], unknownFields: 'drop' })
    const { secret } = await allowing.gateway.issue()
    for (const post of [
      () => allowing.gateway.post(secret, { ...HELLO, plugins: [1], other: 1 }),
      () => ask(allowing.gateway, secret, { ...ASKED, plugins: [1], other: 1 }),
    ]) {
      const answer = await post()
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-svc-dropped-fields')).toBe('other')
      expect(allowing.upstream.requests.at(-1)?.body).toMatchObject({ plugins: [1] })
      expect(allowing.upstream.requests.at(-1)?.body).not.toHaveProperty('other')
    }
  })
})

const BOTH = [call('c1', 'f', '{"a":1}'), call('c2', 'g', '{}')]
const ANSWERS: Readonly<Record<string, { readonly reply: Reply; readonly says: object; readonly items: object[] }>> = {
  'a custom tool’s call': {
    reply: answering([customCall('c1', 'sh', 'ls -l')]),
    says: {
      tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls -l' } }],
      finish_reason: 'tool_calls',
    },
    items: [{ type: 'custom_tool_call', call_id: 'c1', name: 'sh', input: 'ls -l' }],
  },
  'a filtered answer': {
    reply: answering([message('Hel')], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
    says: { content: 'Hel', finish_reason: 'content_filter' },
    items: [{ status: 'incomplete' }],
  },
  'thoughts in two paragraphs': {
    reply: answering([thought('rs_up', 'sealed', 'One.', 'Two.'), message('Yes.')]),
    says: { reasoning_content: 'One.\n\nTwo.', content: 'Yes.', finish_reason: 'stop' },
    items: [
      {
        type: 'reasoning',
        id: 'rs_up',
        encrypted_content: sealedBy('up', 'sealed'),
        summary: [{ text: 'One.' }, { text: 'Two.' }],
      },
      { type: 'message' },
    ],
  },
  'two thoughts, of which one is silent': {
    reply: answering([thought('rs_a', 'one'), thought('rs_b', 'two', 'Hm.'), message('Yes.')]),
    says: { reasoning_content: 'Hm.', content: 'Yes.', finish_reason: 'stop' },
    items: [
      { type: 'reasoning', id: 'rs_a', encrypted_content: sealedBy('up', 'one'), summary: [] },
      { type: 'reasoning', id: 'rs_b', encrypted_content: sealedBy('up', 'two'), summary: [{ text: 'Hm.' }] },
      { type: 'message' },
    ],
  },
  'items that are only told at their ends': {
    reply: sse(
      frames(
        CREATED,
        ...[message('Hi'), ...BOTH].map((item, i) => ({ type: 'response.output_item.done', output_index: i, item })),
        completed([]),
      ),
    ),
    says: { content: 'Hi', tool_calls: [{ id: 'c1' }, { id: 'c2' }], finish_reason: 'tool_calls' },
    items: [{ type: 'message' }, { call_id: 'c1', arguments: '{"a":1}' }, { call_id: 'c2' }],
  },
  'an answer that is only told at its end': {
    reply: sse(frames(completed([message('Hi')]))),
    says: { content: 'Hi', finish_reason: 'stop' },
    items: [{ content: [{ text: 'Hi' }] }],
  },
  'events and items that nobody knows': {
    reply: sse(
      frames(
        CREATED,
        { type: 'response.odd' },
        ...eventsOf({ type: 'odd', id: 'o' }, 0),
        ...eventsOf(message('Hi'), 1),
        completed([]),
      ),
    ),
    says: { content: 'Hi', finish_reason: 'stop' },
    items: [{ content: [{ text: 'Hi' }] }],
  },
}

describe('answers', () => {
  test.each(Object.entries(ANSWERS))(
    '%s is told in chat completions and in Responses, whole and streamed',
    async (_, answer) => {
      upstream.reply = answer.reply
      const { secret } = await gateway.issue()
      const { choices, usage } = completion.parse(await (await gateway.post(secret, HELLO)).json())
      const { message: said, finish_reason } = choices[0] ?? {}
      expect({ ...said, finish_reason }).toMatchObject(answer.says)
      expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
      const chunks = readChunks(await (await gateway.post(secret, { ...HELLO, stream: true })).text(), false)
      expect(gather(chunks, 0)).toMatchObject(answer.says)

      const whole = response.parse(await (await ask(gateway, secret, ASKED)).json())
      expect(whole.output).toMatchObject(answer.items)
      const events = eventsIn(await (await ask(gateway, secret, { ...ASKED, stream: true })).text())
      requireConsistent(events)
      expect(events.at(-1)).toMatchObject({ response: { status: whole.status, output: answer.items } })
    },
  )

  test('thoughts that the upstream has encrypted survive a turn to the byte, through a chat client, too', async () => {
    upstream.reply = answering([thought('rs_up', 'sealed', 'Hm.'), ...BOTH.slice(0, 1)])
    const { secret } = await gateway.issue()
    const { output } = response.parse(await (await ask(gateway, secret, ASKED)).json())
    const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
    await ask(gateway, secret, { ...ASKED, input: [{ role: 'user', content: 'Hi' }, ...output, result] })
    const again = {
      type: 'reasoning',
      id: 'rs_up',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'sealed',
    }
    expect(sent().input).toMatchObject([{ role: 'user' }, again, { type: 'function_call', call_id: 'c1' }, result])

    const { choices } = completion.parse(await (await gateway.post(secret, HELLO)).json())
    const tool = { role: 'tool', tool_call_id: 'c1', content: 'ok' }
    await gateway.post(secret, { ...HELLO, messages: [...HELLO.messages, choices[0]?.message, tool] })
    expect(sent().input).toMatchObject([{ role: 'user' }, again, { type: 'function_call', call_id: 'c1' }, result])
  })

  test('cached and thinking tokens are counted', async () => {
    const usage = {
      ...USAGE,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 3 },
    }
    const { row } = await chat({}, answering([message('Hi')], { usage }))
    const counts = { promptTokens: 10, cachedTokens: 4, completionTokens: 5, reasoningTokens: 3 }
    expect(row).toMatchObject({ ...counts, cost: 18_000n })
  })

  test('log probabilities are told', async () => {
    const logprob = { token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }
    const said = {
      ...message('Hi'),
      content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [logprob] }],
    }
    const { text } = await chat({ logprobs: true, top_logprobs: 2 }, status(200, responseOf([said])))
    expect(completion.parse(JSON.parse(text)).choices[0]?.logprobs?.content).toEqual([logprob])
    expect(sent()).toMatchObject({
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
      top_logprobs: 2,
    })
  })
})

describe('failures', () => {
  const failed = (error: object): Event => ({
    type: 'response.failed',
    response: responseOf([], { status: 'failed', error }),
  })
  const said = frames(CREATED, ...eventsOf(message('Hello'), 0).slice(0, 2))
  const more = (...events: Event[]) => sse([...said, ...frames(...events)])

  test.each<[string, Reply, number]>([
    ['an error in place of an answer', sse(frames({ type: 'error', code: 'server_error', message: 'x' })), 502],
    ['JSON that is no response', status(200, { object: 'list' }), 502],
    ['a 500', status(500, 'x'), 502],
    ['a 401', status(401, { error: { message: `bad ${KEY}` } }), 502],
    ['a 400', status(400, { error: { message: `No, ${KEY}.`, param: 'input', code: 'bad' } }), 400],
  ])('%s is no answer, and free', async (_, reply, expected) => {
    for (const stream of [false, true]) {
      expect(await chat({ stream }, reply)).toMatchObject({ status: expected, row: { cost: 0n } })
    }
  })

  test.each<[string, Reply, number, bigint]>([
    ['a failed response', sse(frames(CREATED, failed({ code: 'server_error', message: 'x' }))), 502, 20_000n],
    [
      'a failed response for the caller’s words',
      sse(frames(failed({ code: 'content_policy_violation', message: 'x' }))),
      400,
      20_000n,
    ],
    [
      'a whole response that failed',
      status(200, responseOf([], { status: 'failed', error: { code: 'server_error' } })),
      502,
      20_000n,
    ],
    ['a whole response that is not done', status(200, responseOf([], { status: 'in_progress' })), 502, 20_000n],
    ['a response of nothing that is cut', sse(frames(CREATED)), 502, 10_000n],
    ['garbage', sse(['data: {nonsense\n\n']), 502, 10_000n],
  ])('%s is no answer, and is paid by its usage or an estimate', async (_, reply, expected, cost) => {
    for (const stream of [false, true]) {
      expect(await chat({ stream }, reply)).toMatchObject({ status: expected, row: { cost } })
    }
  })

  test.each<[string, Reply]>([
    ['fails', more(failed({ code: 'server_error', message: 'x' }))],
    ['reports an error', more({ type: 'error', error: { code: 'x', message: 'x' } })],
    ['turns into garbage', sse([...said, 'data: {no\n\n'])],
  ])('an answer that %s in the middle is told as broken and billed by what was delivered', async (_, reply) => {
    upstream.reply = reply
    const { text, row } = await gateway.ask({ ...ASKED, stream: true }, { path: '/v1/responses' })
    expect(eventsIn(text).slice(-2)).toMatchObject([{ type: 'error' }, { type: 'response.failed' }])
    expect(row).toMatchObject({ outcome: 'upstream_error' })
    expect(row.cost).toBeGreaterThan(0n)
  })
})
