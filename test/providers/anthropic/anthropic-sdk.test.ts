import { beforeAll, expect, test } from '@jest/globals'
import { inTurn } from '../../sdk/support/in-turn.ts'
import { runTools } from '../../sdk/support/run-tools.ts'
import { watchedClient } from '../../sdk/support/watched-client.ts'
import type { TestGateway } from '../../support/gateway.ts'
import type { Upstream } from '../../support/upstream.ts'
import { ASK_FOR_BOTH_TOOLS, openAnthropic, saying, stream as streaming } from './anthropic-fixtures.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  const both = await openAnthropic()
  upstream = both.upstream
  gateway = both.gateway
})

test.each([false, true])(
  'the official openai SDK runs a tool loop with an Anthropic model to its final answer (stream: %s)',
  async (stream) => {
    upstream.reply = inTurn(streaming(...ASK_FOR_BOTH_TOOLS), saying('21 degrees at noon.'))
    upstream.requests.length = 0
    const { client } = watchedClient(gateway, (await gateway.issue()).secret)
    const question = { role: 'user' as const, content: 'Weather and time?' }
    const results = { get_weather: { degrees: 21 }, get_time: { time: '12:00' } }
    const { answer, called } = await runTools(client, question, results, stream)
    expect(answer).toBe('21 degrees at noon.')
    expect(called).toEqual([
      ['get_weather', { city: 'Ulm' }],
      ['get_time', {}],
    ])
    expect(upstream.requests.map(({ body }) => body.messages)).toEqual([
      [{ role: 'user', content: [{ type: 'text', text: 'Weather and time?' }] }],
      [
        { role: 'user', content: [{ type: 'text', text: 'Weather and time?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'toolu_weather', name: 'get_weather', input: { city: 'Ulm' } },
            { type: 'tool_use', id: 'toolu_time', name: 'get_time', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_weather', content: '{"degrees":21}' },
            { type: 'tool_result', tool_use_id: 'toolu_time', content: '{"time":"12:00"}' },
          ],
        },
      ],
    ])
  },
)

test('the official openai SDK parses an Anthropic answer that a schema constrained', async () => {
  upstream.reply = saying('{"city":"Ulm"}')
  const { client } = watchedClient(gateway, (await gateway.issue()).secret)
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const { choices } = await client.chat.completions.parse({
    model: 'test-model',
    messages: [{ role: 'user', content: 'Which city?' }],
    response_format: { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } },
  })
  expect(choices[0]?.message.parsed).toEqual({ city: 'Ulm' })
  expect(upstream.requests.at(-1)?.body.output_config).toEqual({ format: { type: 'json_schema', schema } })
})
