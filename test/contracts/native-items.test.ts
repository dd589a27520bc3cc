import { describe, expect, test } from '@jest/globals'
import OpenAI from 'openai'
import {
  block,
  blockDelta,
  ending,
  openAnthropic,
  start,
  stream,
  textBlock,
} from '../providers/anthropic/anthropic-fixtures.ts'
import { answering, openResponses, USAGE } from '../providers/responses/responses-upstream.ts'
import { openClient } from './messages/support/ask.ts'

const SEARCH = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'tide tables', queries: ['tide tables'] },
}
const PATCH = {
  id: 'apc_1',
  type: 'apply_patch_call',
  status: 'completed',
  call_id: 'call_1',
  operation: { type: 'update_file', path: 'a.txt', diff: '-a\n+b' },
}
const CITED = { type: 'url_citation', url: 'https://example.com/', title: 'Tides', start_index: 0, end_index: 4 }
const messageOf = (id: string, phase: string, text: string, ...annotations: object[]) => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  phase,
  content: [{ type: 'output_text', text, annotations, logprobs: [] }],
})
const OUTPUT = [
  messageOf('msg_1', 'commentary', 'I look it up.'),
  SEARCH,
  messageOf('msg_2', 'final_answer', 'High at noon.', CITED),
  PATCH,
]

async function ended(events: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>): Promise<OpenAI.Responses.Response> {
  for await (const event of events) if (event.type === 'response.completed') return event.response
  throw new Error('The stream has no last event.')
}

describe('A Responses provider for a caller of Responses', () => {
  test.each([true, false])(
    'items that only this format has, phases and annotations arrive unchanged and in order (stream: %s)',
    async (isStream) => {
      const { upstream, gateway } = await openResponses()
      upstream.reply = answering(OUTPUT, { usage: { ...USAGE } })
      const { secret } = await gateway.issue()
      const client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: secret, maxRetries: 0 })
      const request = { model: 'test-model', input: 'When is high tide?' }
      const { output } = isStream
        ? await ended(await client.responses.create({ ...request, stream: true }))
        : await client.responses.create(request)
      const withoutIds = ({ id: _, ...item }: { id?: unknown }) => item
      expect(output.filter(({ type }) => type === 'message').map(withoutIds)).toEqual(
        OUTPUT.filter(({ type }) => type === 'message').map(withoutIds),
      )
      expect(output.filter(({ type }) => type !== 'message')).toEqual([SEARCH, PATCH])
      expect(output.map(({ type }) => type)).toEqual(OUTPUT.map(({ type }) => type))
    },
  )

  test('a caller of chat completions gets the text and its annotations, and no such item', async () => {
    const { upstream, gateway } = await openResponses()
    upstream.reply = answering(OUTPUT)
    const { secret } = await gateway.issue()
    const client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: secret, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'When?' }]
    const { choices } = await client.chat.completions.create({ model: 'test-model', messages })
    const { type, ...url_citation } = CITED
    expect(choices[0]?.message).toEqual({
      role: 'assistant',
      refusal: null,
      content: 'I look it up.High at noon.',
      annotations: [{ type, url_citation }],
    })
  })
})

describe('Anthropic for a caller of Messages', () => {
  const USE = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' }
  const FOUND = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://example.com/', title: 'Tides', encrypted_content: 'eA==' }],
  }

  test('blocks that only this format has arrive unchanged and in order', async () => {
    const { upstream, gateway } = await openAnthropic()
    upstream.reply = stream(
      start(),
      ...textBlock(0, 'I look it up.'),
      ...block(1, { ...USE, input: {} }, [
        blockDelta(1, { type: 'input_json_delta', partial_json: '{"query":' }),
        blockDelta(1, { type: 'input_json_delta', partial_json: '"tides"}' }),
      ]),
      ...block(2, FOUND),
      ...textBlock(3, 'High at noon.'),
      ...ending('end_turn'),
    )
    const { secret } = await gateway.issue()
    const message = await openClient(gateway, secret)
      .messages.stream({ model: 'test-model', max_tokens: 100, messages: [{ role: 'user', content: 'When?' }] })
      .finalMessage()
    expect(message.content).toMatchObject([
      { type: 'text', text: 'I look it up.' },
      { ...USE, input: { query: 'tides' } },
      FOUND,
      { type: 'text', text: 'High at noon.' },
    ])
  })
})
