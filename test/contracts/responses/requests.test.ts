import { beforeAll, expect, test } from '@jest/globals'
import { response } from '../../sdk/support/answers.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, say, sse, type Upstream } from '../../support/upstream.ts'
import { ask, eventsIn, HELLO } from './ask.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth())
})

/** The body that the upstream was asked with. */
async function asked(request: object): Promise<Record<string, unknown>> {
  upstream.reply = say('Hello')
  const { secret } = await gateway.issue()
  const answer = await ask(gateway, secret, { ...HELLO, ...request })
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 200 })
  return upstream.requests.at(-1)?.body ?? {}
}

const USER = { role: 'user', content: 'Hi' }
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{}', status: 'completed' }
const SAID = { type: 'output_text', text: 'Looking.', annotations: [] }

const INPUTS: Readonly<Record<string, readonly [input: unknown, messages: object[]]>> = {
  'a text': ['Hi', [USER]],
  'messages without a type': [[USER], [USER]],
  'messages of every role': [
    [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'D' }] },
      { type: 'message', role: 'system', content: 'S' },
      { type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'message', role: 'assistant', content: 'A' },
    ],
    [
      { role: 'developer', content: [{ type: 'text', text: 'D' }] },
      { role: 'system', content: 'S' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: 'A' },
    ],
  ],
  'pictures, files and audio': [
    [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ],
  ],
  'a turn with text and two calls, which is one message': [
    [
      USER,
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [SAID] },
      CALL,
      { ...CALL, call_id: 'c2' },
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
    ],
    [
      USER,
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
    ],
  ],
  'text after a call, which stays in the call’s turn': [
    [
      USER,
      CALL,
      { role: 'assistant', content: [SAID, { type: 'refusal', refusal: 'No.' }] },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
    ],
    [
      USER,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'refusal', refusal: 'No.' },
        ],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ],
  ],
  'a custom tool’s call': [
    [
      USER,
      { type: 'custom_tool_call', call_id: 'c1', name: 'sh', input: 'ls' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'a.txt' },
    ],
    [
      USER,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
    ],
  ],
  'a thought, and one that led to nothing': [
    [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { role: 'assistant', content: 'Yes.' },
      USER,
      { type: 'reasoning', id: 'rs_2', summary: [] },
    ],
    [{ role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' }, USER],
  ],
}

test.each(Object.entries(INPUTS))('%s goes to a chat upstream in its own words', async (_, [input, messages]) => {
  expect((await asked({ input })).messages).toEqual(messages)
})

test('instructions go before everything', async () => {
  expect((await asked({ instructions: 'Be brief.', input: [USER] })).messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    USER,
  ])
})

/** A name that no other key can have. */
const ALIAS = expect.stringMatching(/^[\w-]{43}$/)

test('fields go to a chat upstream in its own words, and what only this contract has stays here', async () => {
  const schema = { type: 'object', properties: {} }
  const body = await asked({
    max_output_tokens: 77,
    temperature: 0.1,
    top_p: 0.2,
    parallel_tool_calls: false,
    tools: [
      { type: 'function', name: 'f', description: 'F', parameters: schema, strict: true },
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    ],
    tool_choice: { type: 'function', name: 'f' },
    text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'high', summary: 'auto' },
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    service_tier: 'default',
    store: true,
    metadata: { a: 'b' },
    client_metadata: { session: 'x' },
    truncation: 'auto',
    include: ['reasoning.encrypted_content'],
    max_tool_calls: 3,
    background: false,
    previous_response_id: null,
    stream_options: null,
    seed: 7,
  })
  const { messages: _, ...fields } = body
  expect(fields).toEqual({
    model: 'upstream-model',
    max_tokens: 77,
    stream: false,
    temperature: 0.1,
    top_p: 0.2,
    parallel_tool_calls: false,
    tools: [
      { type: 'function', function: { name: 'f', description: 'F', parameters: schema, strict: true } },
      {
        type: 'custom',
        custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
    verbosity: 'low',
    reasoning_effort: 'high',
    user: ALIAS,
    safety_identifier: ALIAS,
    prompt_cache_key: ALIAS,
    service_tier: 'default',
    seed: 7,
  })
})

test.each<[string, unknown, unknown]>([
  ['auto', 'auto', 'auto'],
  ['a custom tool', { type: 'custom', name: 'c' }, { type: 'custom', custom: { name: 'c' } }],
  [
    'allowed tools',
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
  ],
])('the choice of %s goes to a chat upstream in its own words', async (_, choice, told) => {
  const tools = [
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'c' },
  ]
  expect((await asked({ tools, tool_choice: choice })).tool_choice).toEqual(told)
})

test('a choice without tools, which a chat upstream would refuse, is not passed on', async () => {
  const body = await asked({ tools: [], tool_choice: 'auto', parallel_tool_calls: true })
  expect(Object.keys(body)).toEqual(expect.not.arrayContaining(['tools', 'tool_choice', 'parallel_tool_calls']))
})

test('the tools of a namespace go to a chat upstream under longer names and come back under their own', async () => {
  upstream.reply = sse([
    chunk({
      tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'team__spawn', arguments: '{}' } }],
    }),
    chunk({}, 'tool_calls'),
    DONE,
  ])
  const { secret } = await gateway.issue()
  const tools = [{ type: 'namespace', name: 'team', description: 'T', tools: [{ type: 'function', name: 'spawn' }] }]
  const { output } = response.parse(await (await ask(gateway, secret, { ...HELLO, tools })).json())
  expect(upstream.requests.at(-1)?.body.tools).toEqual([{ type: 'function', function: { name: 'team__spawn' } }])
  expect(output).toMatchObject([{ type: 'function_call', namespace: 'team', name: 'spawn' }])
  const events = eventsIn(await (await ask(gateway, secret, { ...HELLO, tools, stream: true })).text())
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'response.output_item.done',
      item: expect.objectContaining({ namespace: 'team', name: 'spawn' }),
    }),
  )
  const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
  await ask(gateway, secret, { ...HELLO, tools, input: [USER, ...output, result] })
  expect(upstream.requests.at(-1)?.body.messages).toMatchObject([
    USER,
    { tool_calls: [{ function: { name: 'team__spawn' } }] },
    { role: 'tool' },
  ])
})
