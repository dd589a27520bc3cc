import { describe, expect, test } from '@jest/globals'
import {
  blockDelta,
  block as contentBlock,
  ending,
  openAnthropic,
  start,
  stream,
} from '../providers/anthropic/anthropic-fixtures.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { ask as askMessages } from './messages/support/ask.ts'
import { ask } from './responses/ask.ts'

// Tools that the client runs, over providers of other API formats: they go as functions, and a call of one comes back as
// the client's own item or block, and goes out again as the same call with its result.

const OPERATION = { type: 'update_file', path: 'a.txt', diff: '-a\n+b' }
const ACTION = { commands: ['ls', 'pwd'], timeout_ms: 1000 }
const EXEC = { command: ['ls', '-l'], working_directory: '/tmp' }
const CLICK = { type: 'click', x: 1, y: 2, button: 'left' }
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const FOUND = { type: 'function', name: 'found', description: 'A tool', parameters: { type: 'object' } }

type Case = {
  readonly tool: object
  /** The function's name, the arguments that the model gives, and the item that the client gets. */
  readonly name: string
  readonly args: object
  readonly item: { readonly type: string; readonly [field: string]: unknown }
  readonly result: object
  /** The result as text for the model, and the names of the functions that it has then. */
  readonly told: string
  readonly functions?: readonly string[]
}

const CASES: Readonly<Record<string, Case>> = {
  apply_patch: {
    tool: { type: 'apply_patch' },
    name: 'apply_patch',
    args: OPERATION,
    item: { type: 'apply_patch_call', operation: OPERATION },
    result: { type: 'apply_patch_call_output', status: 'completed', output: 'Done' },
    told: 'completed: Done',
  },
  shell: {
    tool: { type: 'shell', environment: { type: 'local' } },
    name: 'shell',
    args: ACTION,
    item: { type: 'shell_call', action: ACTION },
    result: {
      type: 'shell_call_output',
      output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
    },
    told: '[{"stdout":"a.txt","stderr":"","outcome":{"type":"exit","exit_code":0}}]',
  },
  local_shell: {
    tool: { type: 'local_shell' },
    name: 'local_shell',
    args: EXEC,
    item: { type: 'local_shell_call', action: { type: 'exec', env: {}, ...EXEC } },
    result: { type: 'local_shell_call_output', output: 'a.txt' },
    told: 'a.txt',
  },
  computer: {
    tool: { type: 'computer' },
    name: 'computer',
    args: { actions: [CLICK] },
    item: { type: 'computer_call', actions: [CLICK], pending_safety_checks: [] },
    result: { type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: PNG } },
    told: PNG,
  },
  tool_search: {
    tool: {
      type: 'tool_search',
      execution: 'client',
      description: 'Finds tools.',
      parameters: { type: 'object', properties: { query: { type: 'string' } } },
    },
    name: 'tool_search',
    args: { query: 'mail' },
    item: { type: 'tool_search_call', execution: 'client', arguments: { query: 'mail' } },
    result: { type: 'tool_search_output', execution: 'client', status: 'completed', tools: [FOUND] },
    told: 'Available now: found',
    functions: ['tool_search', 'found'],
  },
}

const USER = { role: 'user', content: 'Go on.' }
const chat = await openBoth()
const claude = await openAnthropic()

const inChat = (name: string, args: object) =>
  sse([
    chunk({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    }),
    chunk({}, 'tool_calls'),
    usageChunk(USAGE),
    DONE,
  ])
const inMessages = (name: string, args: object) =>
  stream(
    start(),
    ...contentBlock(0, { type: 'tool_use', id: 'call_1', name, input: {} }, [
      blockDelta(0, { type: 'input_json_delta', partial_json: JSON.stringify(args) }),
    ]),
    ...ending('tool_use'),
  )

/** How each upstream says a call, and where it has the functions that it is offered. */
const UPSTREAMS = {
  'chat completions': { ...chat, says: inChat, named: (tool: Fields) => (tool.function as Fields).name },
  Messages: { ...claude, says: inMessages, named: (tool: Fields) => tool.name },
}
type Fields = Record<string, unknown>

describe.each(Object.entries(UPSTREAMS))('over a provider of %s', (_, { upstream, gateway, says, named }) => {
  test.each(Object.entries(CASES))('%s of Responses goes and comes back in the client’s form', async (_, one) => {
    upstream.reply = says(one.name, one.args)
    const { secret } = await gateway.issue({ credits: '1000' })
    const request = { model: 'test-model', input: [USER], tools: [one.tool] }
    const answer = await ask(gateway, secret, request)
    expect([answer.status, answer.headers.get('x-svc-dropped-fields')]).toEqual([200, null])
    const { output } = (await answer.json()) as { output: Fields[] }
    expect(output).toEqual([{ id: expect.any(String), call_id: 'call_1', status: 'completed', ...one.item }])
    const streamed = await (await ask(gateway, secret, { ...request, stream: true })).text()
    const events = Array.from(streamed.matchAll(/^data: (\{.*\})$/gm), ([, data = '']) => JSON.parse(data))
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done).toMatchObject([{ item: { call_id: 'call_1', ...one.item } }])

    upstream.requests.length = 0
    const input = [USER, ...output, { call_id: 'call_1', ...one.result }, USER]
    expect((await ask(gateway, secret, { ...request, input })).status).toBe(200)
    const sent = upstream.requests[0]?.body as { tools: Fields[] }
    expect(sent.tools.map(named)).toEqual(one.functions ?? [one.name])
    const text = JSON.stringify(sent).replaceAll('\\', '')
    for (const word of [one.name, ...Object.keys(one.args)]) expect(text).toContain(`"${word}"`)
    expect(text).toContain(one.told.startsWith('data:') ? 'iVBORw0KGgo=' : one.told.replaceAll('\\', ''))
  })

  test('a custom tool goes and comes back with its text', async () => {
    const isFunction = named({ name: 'run', function: {} }) === 'run'
    upstream.reply = isFunction
      ? says('functions__run', { input: 'print(1)' })
      : sse([
          chunk({
            tool_calls: [
              { index: 0, id: 'call_1', type: 'custom', custom: { name: 'functions__run', input: 'print(1)' } },
            ],
          }),
          chunk({}, 'tool_calls'),
          usageChunk(USAGE),
          DONE,
        ])
    const { secret } = await gateway.issue({ credits: '1000' })
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' }
    const tools = [
      { type: 'namespace', name: 'functions', description: '', tools: [{ type: 'custom', name: 'run', format }] },
    ]
    const items = [{ type: 'additional_tools', role: 'developer', tools }, USER]
    const answer = await ask(gateway, secret, { model: 'test-model', input: items })
    const { output } = (await answer.json()) as { output: Fields[] }
    const call = { type: 'custom_tool_call', call_id: 'call_1', namespace: 'functions', name: 'run', input: 'print(1)' }
    expect(output).toEqual([{ id: expect.any(String), ...call }])
    upstream.requests.length = 0
    const result = { type: 'custom_tool_call_output', call_id: 'call_1', output: '1' }
    const input = [...items, ...output, result, USER]
    expect((await ask(gateway, secret, { model: 'test-model', input })).status).toBe(200)
    const text = JSON.stringify(upstream.requests[0]?.body)
    expect(text).toContain('start: /.+/')
    expect(text).toContain('print(1)')
  })
})

describe('Anthropic’s tools of the client over chat completions', () => {
  const { upstream, gateway } = chat
  const TOOLS = [
    ['bash_20250124', 'bash', { command: 'ls' }],
    ['text_editor_20250728', 'str_replace_based_edit_tool', { command: 'view', path: '/a' }],
    ['memory_20250818', 'memory', { command: 'view', path: '/memories' }],
    ['computer_20251124', 'computer', { action: 'left_click', coordinate: [1, 2] }],
  ] as const

  test.each(TOOLS)('%s is a function, and its call is a tool_use', async (type, name, input) => {
    upstream.reply = inChat(name, input)
    const { secret } = await gateway.issue({ credits: '1000' })
    const screen = name === 'computer' ? { display_width_px: 800, display_height_px: 600 } : {}
    const body = { model: 'test-model', max_tokens: 100, messages: [USER], tools: [{ type, name, ...screen }] }
    upstream.requests.length = 0
    const answer = await askMessages(gateway, secret, body)
    const { content } = (await answer.json()) as { content: Fields[] }
    expect(content).toMatchObject([{ type: 'tool_use', id: 'call_1', name, input }])
    const [sent] = (upstream.requests[0]?.body.tools ?? []) as {
      function: { parameters: { properties: object } }
    }[]
    const properties = Object.keys(sent?.function.parameters.properties ?? {})
    expect(properties).toEqual(expect.arrayContaining(Object.keys(input)))
  })

  test.each([false, true])(
    'a member of a toolset is called and answered by its own name (stream: %s)',
    async (isStream) => {
      upstream.reply = inChat('browser', { action: 'navigate', input: { url: 'https://example.com' } })
      const { secret } = await gateway.issue({ credits: '1000' })
      const tools = [{ type: 'browser_toolset_20260801' }]
      const body = { model: 'test-model', max_tokens: 100, messages: [USER], tools }
      const use = {
        type: 'tool_use',
        id: 'call_1',
        name: 'navigate',
        input: { url: 'https://example.com' },
        toolset_name: 'browser',
      }
      const text = await (await askMessages(gateway, secret, { ...body, stream: isStream })).text()
      if (isStream) {
        expect(text).toContain('"name":"navigate","input":{},"toolset_name":"browser"')
        expect(text).toContain(JSON.stringify({ partial_json: '{"url":"https://example.com"}' }).slice(1, -1))
      } else expect(JSON.parse(text)).toMatchObject({ content: [use], stop_reason: 'tool_use' })
      upstream.requests.length = 0
      const tabs = [{ tab_id: 't1', title: 'A', url: 'https://example.com', active: true }]
      const result = {
        type: 'tool_result',
        tool_use_id: 'call_1',
        toolset_name: 'browser',
        content: [{ type: 'browser_state', tabs }],
      }
      const messages = [USER, { role: 'assistant', content: [use] }, { role: 'user', content: [result] }]
      expect((await askMessages(gateway, secret, { ...body, messages })).status).toBe(200)
      expect(upstream.requests[0]?.body.messages).toMatchObject([
        { role: 'user' },
        {
          tool_calls: [
            { function: { name: 'browser', arguments: '{"action":"navigate","input":{"url":"https://example.com"}}' } },
          ],
        },
        { role: 'tool', content: JSON.stringify({ tabs }) },
      ])
    },
  )

  test('a found tool is named in text, and examples stand in the description', async () => {
    upstream.reply = inChat('found', {})
    const { secret } = await gateway.issue({ credits: '1000' })
    const input_examples = [{ city: 'Ulm' }]
    const tools = [
      { name: 'ToolSearch', input_schema: { type: 'object' } },
      { name: 'found', description: 'Finds.', input_schema: { type: 'object' }, defer_loading: true, input_examples },
    ]
    const use = { type: 'tool_use', id: 'call_0', name: 'ToolSearch', input: {} }
    const result = {
      type: 'tool_result',
      tool_use_id: 'call_0',
      content: [{ type: 'tool_reference', tool_name: 'found' }],
    }
    const messages = [USER, { role: 'assistant', content: [use] }, { role: 'user', content: [result] }]
    upstream.requests.length = 0
    expect((await askMessages(gateway, secret, { model: 'test-model', max_tokens: 9, messages, tools })).status).toBe(
      200,
    )
    const sent = upstream.requests[0]?.body as { tools: { function: Fields }[]; messages: Fields[] }
    expect(sent.tools.map(({ function: { name, description } }) => [name, description])).toEqual([
      ['ToolSearch', undefined],
      ['found', 'Finds.\nExample: {"city":"Ulm"}'],
    ])
    expect(sent.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Available now: found' })
  })
})
