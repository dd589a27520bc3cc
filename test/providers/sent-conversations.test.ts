import { testSent } from './support/sent.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CAT = 'https://example.test/cat.png'
const LONG_ID = `call:${'x'.repeat(70)}.1`
const CLAUDE = { format: 'anthropic-claude-v1' }
const OPENAI = { format: 'openai-responses-v1', id: 'rs_1', index: 0 }

const user = (...content: unknown[]) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const text = (words: string) => ({ type: 'text', text: words })
const image = (url: string, more: object = {}) => ({ type: 'image_url', image_url: { url, ...more } })
const call = (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } })
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const signed = (signature: string, words?: string) => ({ type: 'reasoning.text', text: words, signature, ...CLAUDE })
const summary = (words: string) => ({ type: 'reasoning.summary', summary: words, ...OPENAI })

const EMPTY = { type: 'object', properties: {} }
const TOOLS = { tools: [{ type: 'function', function: { name: 'look' } }] }
const LOOKED = [user(text('What?')), { role: 'assistant', tool_calls: [call('c:1', 'look', '')] }, result('c:1', '')]

/** Blocks of Anthropic's. */
const shown = (media_type: string, data: string) => ({ type: 'image', source: { type: 'base64', media_type, data } })
const used = (id: string, input: object) => ({ type: 'tool_use', id, name: 'look', input })
const got = (tool_use_id: string, content: unknown) => ({ type: 'tool_result', tool_use_id, content })
const thought = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature })
const ANTHROPIC_TOOLS = { tools: [{ name: 'look', input_schema: EMPTY }] }

/** Blocks of Bedrock's. */
const picture = (format: string, bytes: string) => ({ image: { format, source: { bytes } } })
const toolUse = (toolUseId: string, input: object) => ({ toolUse: { toolUseId, name: 'look', input } })
const toolResult = (toolUseId: string, ...content: object[]) => ({ toolResult: { toolUseId, content } })
const BEDROCK_TOOLS = { toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: EMPTY } } }] } }
const AS_TEXT = [
  user({ text: 'What?' }),
  assistant({ text: '[Tool call c:1: look()]' }),
  user({ text: '[Result of tool call c:1:]' }, { text: '(nothing)' }),
]

/** Items of Responses. */
const item = (role: string, content: unknown) => ({ type: 'message', role, content })
const input = (words: string) => ({ type: 'input_text', text: words })
const RESPONSES_TOOLS = { tools: [{ type: 'function', name: 'look', parameters: EMPTY, strict: false }] }

testSent('chat', {
  'a conversation is sent with all that a dialect has words for': [
    {
      ...TOOLS,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [text('Be kind.')] },
        { role: 'user', content: 'One' },
        user(text('Two'), text(' \n'), image(`data:image/png;base64,${PNG}`), image('data:image/JPG;base64,/9j/4AAQ')),
        { role: 'assistant', content: null, refusal: 'No.' },
        { ...assistant(text('But'), { type: 'refusal', refusal: ' no.' }), reasoning_content: 'Nobody signed this.' },
        { role: 'assistant', content: '' },
        user(text('Why?')),
        {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: 'Hm.',
          reasoning_details: [
            signed('a'),
            { type: 'reasoning.encrypted', data: 'Yg==', ...CLAUDE },
            summary('H'),
            summary('a.'),
            { type: 'reasoning.encrypted', data: 'sealed', ...OPENAI },
          ],
          tool_calls: [call('call_1', 'look', '{"at": "it"}'), call('c.2:0', 'look', '')],
        },
        result('call_1', '21 degrees'),
        result('c.2:0', [text('Here:'), image(`data:image/webp;base64,${PNG}`)]),
        user(text('Go on.')),
      ],
    },
    {
      anthropic: {
        ...ANTHROPIC_TOOLS,
        system: 'Be brief.\nBe kind.',
        messages: [
          user(text('One'), text('Two'), shown('image/png', PNG), shown('image/jpeg', '/9j/4AAQ')),
          assistant(text('No.'), text('But'), text(' no.')),
          user(text('Why?')),
          assistant(
            thought('Hm.', 'a'),
            { type: 'redacted_thinking', data: 'Yg==' },
            text('Let me look.'),
            used('call_1', { at: 'it' }),
            used('c_2e2_3a0', {}),
          ),
          user(
            got('call_1', '21 degrees'),
            got('c_2e2_3a0', [text('Here:'), shown('image/webp', PNG)]),
            text('Go on.'),
          ),
        ],
      },
      bedrock: {
        ...BEDROCK_TOOLS,
        system: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
        messages: [
          user({ text: 'One' }, { text: 'Two' }, picture('png', PNG), picture('jpeg', '/9j/4AAQ')),
          assistant({ text: 'No.' }, { text: 'But' }, { text: ' no.' }),
          user({ text: 'Why?' }),
          assistant(
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'a' } } },
            { reasoningContent: { redactedContent: 'Yg==' } },
            { text: 'Let me look.' },
            toolUse('call_1', { at: 'it' }),
            toolUse('c_2_0', {}),
          ),
          user(
            toolResult('call_1', { text: '21 degrees' }),
            toolResult('c_2_0', { text: 'Here:' }, picture('webp', PNG)),
            { text: 'Go on.' },
          ),
        ],
      },
      responses: {
        ...RESPONSES_TOOLS,
        input: [
          item('system', 'Be brief.'),
          item('developer', [input('Be kind.')]),
          item('user', 'One'),
          item('user', [
            input('Two'),
            input(' \n'),
            { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
            { type: 'input_image', image_url: 'data:image/JPG;base64,/9j/4AAQ', detail: 'auto' },
          ]),
          item('assistant', 'No.'),
          item('assistant', 'But no.'),
          item('user', [input('Why?')]),
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 'Ha.' }],
            encrypted_content: 'sealed',
          },
          item('assistant', 'Let me look.'),
          { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at": "it"}' },
          { type: 'function_call', call_id: 'c.2:0', name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_1', output: '21 degrees' },
          {
            type: 'function_call_output',
            call_id: 'c.2:0',
            output: [
              input('Here:'),
              { type: 'input_image', image_url: `data:image/webp;base64,${PNG}`, detail: 'auto' },
            ],
          },
          item('user', [input('Go on.')]),
        ],
      },
    },
  ],
  'images are sent by their address, and with the detail that was asked': [
    { messages: [user(image(CAT, { detail: 'low' }))] },
    {
      anthropic: { messages: [user({ type: 'image', source: { type: 'url', url: CAT } })] },
      responses: { input: [item('user', [{ type: 'input_image', image_url: CAT, detail: 'low' }])] },
    },
  ],
  'files are sent with their names': [
    { messages: [user({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:,x' } })] },
    { responses: { input: [item('user', [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:,x' }])] } },
  ],
  'past calls are text at Bedrock if no tools are defined': [
    { messages: LOOKED },
    {
      anthropic: { messages: [user(text('What?')), assistant(used('c_3a1', {})), user(got('c_3a1', ''))] },
      bedrock: { messages: AS_TEXT },
    },
  ],
  'past calls are text at Bedrock if no tool may be called': [
    { ...TOOLS, tool_choice: 'none', messages: LOOKED },
    { bedrock: { messages: AS_TEXT } },
  ],
  'a result of nothing is told, and a long id is cut, at Bedrock': [
    { ...TOOLS, messages: [{ role: 'assistant', tool_calls: [call(LONG_ID, 'look', '')] }, result(LONG_ID, '')] },
    {
      bedrock: {
        ...BEDROCK_TOOLS,
        messages: [
          assistant(toolUse(`${'x'.repeat(62)}_1`, {})),
          user(toolResult(`${'x'.repeat(62)}_1`, { text: '(nothing)' })),
        ],
      },
    },
  ],
  'a call of a custom tool and its result are sent': [
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sh', input: 'ls' } }] },
        result('c', [text('a.txt')]),
      ],
    },
    {
      responses: {
        input: [
          { type: 'custom_tool_call', call_id: 'c', name: 'sh', input: 'ls' },
          { type: 'custom_tool_call_output', call_id: 'c', output: [input('a.txt')] },
        ],
      },
    },
  ],
  'thoughts in pieces go back as they were signed': [
    {
      messages: [
        {
          role: 'assistant',
          content: 'Yes.',
          reasoning_content: 'First. Second.',
          reasoning_details: [signed('', 'Fir'), signed('c', 'st.'), signed('d', 'Second.')],
        },
        user(text('And?')),
      ],
    },
    {
      anthropic: {
        messages: [assistant(thought('First.', 'c'), thought('Second.', 'd'), text('Yes.')), user(text('And?'))],
      },
    },
  ],
})
