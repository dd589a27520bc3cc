import { expect, test } from '@jest/globals'
import { ALIAS, testSent } from '../../providers/support/sent.ts'
import { response } from '../../sdk/support/answers.ts'
import { openBoth } from '../../support/stack.ts'
import { chunk, DONE, sse } from '../../support/upstream.ts'
import { ask, eventsIn, HELLO } from './ask.ts'

const USER = { role: 'user', content: 'Hi' }
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{}', status: 'completed' }
const SAID = { type: 'output_text', text: 'Looking.', annotations: [] }
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const SCHEMA = { type: 'object', properties: {} }

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

testSent(
  'responses',
  Object.fromEntries(
    Object.entries(INPUTS).map(([name, [input, messages]]) => [
      `${name} goes to a chat upstream in its own words`,
      [{ input }, { chat: { messages } }],
    ]),
  ),
)

const TOOLS = [
  { type: 'function', name: 'f' },
  { type: 'custom', name: 'c' },
]
const CHAT_TOOLS = [
  { type: 'function', function: { name: 'f' } },
  { type: 'custom', custom: { name: 'c' } },
]
const chosen = (tool_choice: unknown, told: unknown) =>
  [{ tools: TOOLS, tool_choice }, { chat: { tools: CHAT_TOOLS, tool_choice: told } }] as const

testSent('responses', {
  'instructions go before everything': [
    { instructions: 'Be brief.', input: [USER] },
    { chat: { messages: [{ role: 'system', content: 'Be brief.' }, USER] } },
  ],
  'a picture goes to every dialect': [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
    {
      chat: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PICTURE } }] }] },
      anthropic: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }],
          },
        ],
      },
      bedrock: {
        messages: [{ role: 'user', content: [{ image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }] }],
      },
      responses: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE }] }] },
    },
  ],
  'the choice of auto goes to a chat upstream': chosen('auto', 'auto'),
  'the choice of a custom tool goes to a chat upstream in its own words': chosen(
    { type: 'custom', name: 'c' },
    { type: 'custom', custom: { name: 'c' } },
  ),
  'the choice of allowed tools goes to a chat upstream in its own words': chosen(
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
  ),
  'a choice without tools, which a chat upstream would refuse, is not passed on': [
    { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
    { chat: {} },
  ],
  'fields go to a chat upstream in its own words, and what only this contract has stays here': [
    {
      max_output_tokens: 77,
      temperature: 0.1,
      top_p: 0.2,
      parallel_tool_calls: false,
      tools: [
        { type: 'function', name: 'f', description: 'F', parameters: SCHEMA, strict: true },
        { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
      ],
      tool_choice: { type: 'function', name: 'f' },
      text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true }, verbosity: 'low' },
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
    },
    {
      chat: {
        max_tokens: 77,
        temperature: 0.1,
        top_p: 0.2,
        parallel_tool_calls: false,
        tools: [
          { type: 'function', function: { name: 'f', description: 'F', parameters: SCHEMA, strict: true } },
          {
            type: 'custom',
            custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } },
          },
        ],
        tool_choice: { type: 'function', function: { name: 'f' } },
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA, strict: true } },
        verbosity: 'low',
        reasoning_effort: 'high',
        user: ALIAS,
        safety_identifier: ALIAS,
        prompt_cache_key: ALIAS,
        service_tier: 'default',
        seed: 7,
      },
    },
  ],
})

const { upstream, gateway } = await openBoth()

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
