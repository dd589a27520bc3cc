import { beforeAll, describe, expect, test } from '@jest/globals'
import { blockDelta, ending, saying, start, stream } from '../../providers/anthropic/anthropic-fixtures.ts'
import { openBedrock } from '../../providers/bedrock/bedrock-upstream.ts'
import { expectBooksClosed } from '../../robust/support/exchange.ts'
import { writeOn } from '../../robust/support/write-apart.ts'
import { catalogFor, type TestGateway } from '../../support/gateway.ts'
import { openBoth, openFor, openUpstream } from '../../support/stack.ts'
import { chunk, DONE, sse, type Upstream } from '../../support/upstream.ts'
import { ask, HELLO, openClient } from './support/ask.ts'
import { ERROR } from './support/message-schema.ts'
import { readEvents } from './support/read-events.ts'

let upstream: Upstream
let gateway: TestGateway
let allowing: TestGateway
let secret: string

beforeAll(async () => {
  upstream = await openUpstream(saying('Hello'))
  const provider = { type: 'anthropic' }
  gateway = await openFor(catalogFor(upstream.url, {}, provider))
  allowing = await openFor(catalogFor(upstream.url, { allowFields: ['tools', 'inference_geo'] }, provider))
  ;({ secret } = await gateway.issue({ rpm: 60_000, credits: '1000' }))
})

async function sent(fields: object, headers: Record<string, string> = {}) {
  upstream.requests.length = 0
  const response = await ask(gateway, secret, { ...HELLO, ...fields }, { headers })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  return { body: upstream.requests[0]?.body, headers: response.headers }
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' }

describe('a request in Anthropic’s words reaches Anthropic', () => {
  test.each<[string, object]>([
    ['instructions as a string', { system: 'Be kind.' }],
    [
      'instructions as blocks',
      {
        system: [
          { type: 'text', text: 'Be kind.' },
          { type: 'text', text: 'Be brief.' },
        ],
      },
    ],
    ['instructions in between', { messages: [...HELLO.messages, { role: 'system', content: 'Be brief.' }] }],
    ['ways to draw the next token', { temperature: 0.3, top_p: 0.9, top_k: 40, stop_sequences: ['END'] }],
    ['an image at an address', user({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } })],
    ['a document with citations', user({ type: 'document', source: PDF, title: 'A', citations: { enabled: true } })],
    [
      'a search result',
      user({ type: 'search_result', source: 'https://a', title: 'A', content: [{ type: 'text', text: 'a' }] }),
    ],
    ['thinking with a budget', { max_tokens: 900, thinking: { type: 'enabled', budget_tokens: 800 } }],
    ['a schema and an effort', { output_config: { effort: 'low', format: { type: 'json_schema', schema: {} } } }],
    ['the list price', { service_tier: 'standard_only' }],
    [
      'tools that the caller runs, and one call at a time',
      {
        tools: [
          { type: 'bash_20250124', name: 'bash' },
          { name: 'f', input_schema: { type: 'object', properties: { cache_control: {} } }, strict: true },
          { type: 'custom', name: 'g', description: 'G', input_schema: { type: 'object' }, defer_loading: true },
        ],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
    ],
  ])('as it is: %s', async (_, fields) => {
    const { body } = await sent(fields)
    expect(body).toEqual({ stream: false, ...HELLO, ...fields, model: 'upstream-model' })
  })

  test('with a name for its user that no other key can have', async () => {
    const { body } = await sent({ metadata: { user_id: 'u'.repeat(150) } })
    expect(body?.metadata).toEqual({ user_id: expect.stringMatching(/^[\w-]{43}$/) })
  })

  test('without marks of the cache if writes have no price, also those within results and documents', async () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const text = { type: 'text', text: 'a' }
    const { body } = await sent({
      ...mark,
      system: [{ ...text, ...mark }],
      tools: [{ name: 'f', input_schema: { type: 'object' }, ...mark }],
      messages: [
        { role: 'user', content: [{ ...text, ...mark }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { ...mark } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ ...text, ...mark }], ...mark },
            { type: 'document', source: { type: 'content', content: [{ ...text, ...mark }] }, ...mark },
          ],
        },
      ],
    })
    // The input of a tool is the caller's own.
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(1)
    expect(body?.messages).toMatchObject([{}, { content: [{ input: mark }] }, {}])
  })

  test('without thoughts that nobody signed, because another model had them', async () => {
    const said = { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }] }
    const { body } = await sent({
      messages: [...HELLO.messages, said, { ...said, content: [...said.content, { type: 'text', text: 'Hi' }] }],
    })
    expect(body?.messages).toEqual([...HELLO.messages, { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }])
  })

  test('without hints that need a beta, and a header names them', async () => {
    const { body, headers } = await sent({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } })
    expect(body).not.toHaveProperty('context_management')
    expect(headers.get('x-svc-dropped-fields')).toBe('context_management')
  })
})

describe('what may change the bill is a 400 that names it', () => {
  const WEB = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }

  test.each<[string, object, RegExp]>([
    ['a search that Anthropic runs', WEB, /'tools\[0\]' .*only as tools of type 'custom'.*billed by the call/],
    ['a tier', { service_tier: 'priority' }, /'service_tier' is passed on .* only as one of auto, standard_only/],
    ['a speed', { speed: 'fast' }, /'speed' is passed on .* only as 'standard'/],
    ['a field of the future', { warp: 9 }, /Unknown field `warp`/],
    ['a block of the future', user({ type: 'hologram' }), /content\[0\]\.type' must be one of text, image/],
    [
      'a field of a block',
      user({ type: 'text', text: 'Hi', video: 'a' }),
      /Unknown field `messages\[0\].content\[0\].video`/,
    ],
  ])('for Anthropic: %s', async (_, fields, says) => {
    upstream.requests.length = 0
    const response = await ask(gateway, secret, { ...HELLO, ...fields })
    expect(response.status).toBe(400)
    expect(ERROR.parse(await response.json()).error.message).toMatch(says)
    expect(upstream.requests).toEqual([])
  })

  test.each<[string, object]>([
    ['a hosted tool', WEB],
    ['a field', { inference_geo: 'us' }],
  ])('unless the operator allows it: %s', async (_, fields) => {
    upstream.requests.length = 0
    const response = await ask(allowing, (await allowing.issue()).secret, { ...HELLO, ...fields })
    expect(response.status).toBe(200)
    expect(upstream.requests[0]?.body).toMatchObject(fields)
  })
})

test('a file holds the whole context, and an image its tokens, as through chat completions', async () => {
  const holdOf = async (...content: object[]) => {
    const response = await ask(gateway, secret, { ...HELLO, ...user(...content) })
    expect(response.status).toBe(200)
    return (await gateway.readRow(response.headers.get('x-request-id'))).hold
  }
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
  expect(await holdOf({ type: 'document', source: PDF })).toBe(1_000_200_000n)
  expect(await holdOf(image)).toBeGreaterThan(50_000_000n)
  expect(await holdOf({ type: 'tool_result', tool_use_id: 'a', content: [image] })).toBeGreaterThan(50_000_000n)
  const plain = { type: 'document', source: { type: 'text', data: 'a' } }
  expect(await holdOf(plain)).toBeLessThan(1_000_000n)
  expect(await holdOf({ ...plain, citations: { enabled: true } })).toBe(1_000_200_000n)
})

test('citations of an answer reach a caller that speaks Anthropic’s words', async () => {
  const citation = { type: 'char_location', cited_text: 'a', document_index: 0, start_char_index: 0, end_char_index: 1 }
  upstream.reply = stream(
    start(),
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    blockDelta(0, { type: 'text_delta', text: 'It says a.' }),
    blockDelta(0, { type: 'citations_delta', citation }),
    { type: 'content_block_stop', index: 0 },
    ...ending('end_turn'),
  )
  const client = openClient(gateway, secret)
  const streamed = await client.messages.stream(HELLO).finalMessage()
  const whole = await client.messages.create(HELLO)
  for (const { content } of [streamed, whole]) {
    expect(content).toEqual([{ type: 'text', text: 'It says a.', citations: [citation] }])
  }
  upstream.reply = saying('Hello')
})

describe('in other words', () => {
  test('a request in Anthropic’s words is one in OpenAI’s to an upstream that speaks those', async () => {
    const { gateway: openai, upstream: other } = await openBoth()
    const response = await ask(openai, (await openai.issue()).secret, {
      ...HELLO,
      system: 'Be kind.',
      stop_sequences: ['END'],
      metadata: { user_id: 'u'.repeat(150) },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'max', format: { type: 'json_schema', schema: { type: 'object' } } },
      tools: [{ name: 'f', description: 'F', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      ...user({ type: 'text', text: 'Hi' }, { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-dropped-fields')).toBe('thinking')
    expect(other.requests[0]?.body).toEqual({
      model: 'upstream-model',
      max_tokens: 100,
      stream: false,
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
          ],
        },
      ],
      stop: ['END'],
      user: expect.stringMatching(/^[\w-]{43}$/),
      reasoning_effort: 'xhigh',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema: { type: 'object' } },
      },
      tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
    })
  })

  test('an upstream’s words in parts, its call without an id and its odd fields are told as blocks', async () => {
    const { gateway: openai, upstream: other } = await openBoth()
    other.reply = sse([
      chunk({ content: [{ type: 'text', text: 'Hm.' }, { type: 'x' }, 7], reasoning: 'So.', reasoning_details: [7] }),
      chunk({ content: 7, tool_calls: [null, { index: 0, function: { name: 'f', arguments: '{}' } }] }, 'stop'),
      DONE,
    ])
    const { messages } = openClient(openai, (await openai.issue()).secret)
    for (const answer of [await messages.create(HELLO), await messages.stream(HELLO).finalMessage()]) {
      expect(answer).toMatchObject({
        content: [
          { type: 'thinking', thinking: 'So.' },
          { type: 'text', text: 'Hm.' },
          { type: 'tool_use', id: expect.stringMatching(/^toolu_[0-9A-Z]{26}_1$/), name: 'f', input: {} },
        ],
        stop_reason: 'tool_use',
      })
    }
  })

  test.each<[string, readonly string[] | 'for ever', object]>([
    [
      'goes back to a tool call that has ended',
      [
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a' } }] }),
        chunk({ content: 'Hm.' }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '":1}' } }] }),
        chunk({}, 'tool_calls'),
      ],
      [{ type: 'error', error: { type: 'api_error' } }],
    ],
    [
      'goes on for ever',
      'for ever',
      [{ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }, { type: 'message_stop' }],
    ],
  ])('a stream of an upstream that %s ends in Anthropic’s words', async (_, frames, last) => {
    const { gateway: openai, upstream: other } = await openBoth()
    function* forever() {
      for (;;) yield chunk({ content: 'lo ' })
    }
    other.reply = async (response, request) => {
      if (frames !== 'for ever') return sse(frames)(response, request)
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      await writeOn(response, forever())
      response.end()
    }
    const { key, secret: one } = await openai.issue()
    const { events } = readEvents(await (await ask(openai, one, { ...HELLO, stream: true })).text())
    expect(events.slice(-(last as object[]).length)).toMatchObject(last)
    expect((await expectBooksClosed(openai, key.id)).cost).toBeGreaterThan(0n)
  })

  test('thinking, effort and top_k reach Claude at Bedrock in Claude’s own words', async () => {
    const { gateway: bedrock, upstream: amazon } = await openBedrock()
    const fields = { thinking: { type: 'enabled', budget_tokens: 80 }, top_k: 5, output_config: { effort: 'low' } }
    const response = await ask(bedrock, (await bedrock.issue()).secret, { ...HELLO, ...fields })
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(amazon.requests[0]?.body.additionalModelRequestFields).toEqual(fields)
  })
})
