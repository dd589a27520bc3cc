import { readDefinitions, resolve, type Type } from './definitions.ts'
import { kindsOf, sampleOf } from './samples.ts'

const PACKAGES = new URL('../../../node_modules/', import.meta.url).pathname
const OPENAI = `${PACKAGES}openai/resources/`
const ANTHROPIC = `${PACKAGES}@anthropic-ai/sdk/resources/`

const named = (file: string, name: string): Type => ({ kind: 'name', name, scope: readDefinitions(file) })
export const chatType = (name: string) => named(`${OPENAI}chat/completions/completions.d.ts`, name)
export const responsesType = (name: string) => named(`${OPENAI}responses/responses.d.ts`, name)
export const messagesType = (name: string) => named(`${ANTHROPIC}beta/messages/messages.d.ts`, name)
export const betaNames = () => resolve(named(`${ANTHROPIC}beta/beta.d.ts`, 'AnthropicBeta'))

type Body = Readonly<Record<string, unknown>>
export type Probe = {
  readonly group: string
  readonly name: string
  readonly value: unknown
  /** The request with the value, and the same without it. */
  readonly request: Body
  readonly base: Body
}

const USER = { role: 'user', content: 'Hello' }
const FUNCTION = { type: 'function', name: 'f', parameters: {} }
const CHAT_FUNCTION = { type: 'function', function: { name: 'f', parameters: {} } }
const OWN_TOOL = { name: 'f', input_schema: { type: 'object' } }

type Place = (value: unknown, name: string) => Body
type Group = { readonly type: Type; readonly by?: string; readonly at: Place; readonly base?: Place }

/** Fields of the whole request are tried beside these, which give them a meaning. */
const fieldsOf = (type: Type, beside: Body, ...skipped: string[]): [string, Type][] => {
  const whole = resolve(type)
  const names = whole.kind === 'object' ? [...whole.fields] : []
  return names.filter(([name]) => !skipped.includes(name) && !(name in beside))
}

const CALLS: Readonly<Record<string, Body>> = {
  function_call_output: { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
  custom_tool_call_output: { type: 'custom_tool_call', call_id: 'call_1', name: 'f', input: 'a' },
  apply_patch_call_output: {
    type: 'apply_patch_call',
    call_id: 'call_1',
    operation: { type: 'delete_file', path: 'a' },
  },
  shell_call_output: { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] } },
  local_shell_call_output: { type: 'local_shell_call', call_id: 'call_1', action: { type: 'exec', command: ['ls'] } },
  computer_call_output: { type: 'computer_call', call_id: 'call_1', actions: [{ type: 'screenshot' }] },
}
const before = (name: string) => (CALLS[name] ? [CALLS[name]] : [])
const OF_ASSISTANT =
  /^(?:tool_use|thinking|redacted_thinking|server_tool_use|.*_tool_result|mcp_.*|compaction|fallback)$/

const GROUPS: Readonly<Record<'chat' | 'responses' | 'messages', Readonly<Record<string, Group>>>> = {
  chat: {
    message: {
      type: chatType('ChatCompletionMessageParam'),
      by: 'role',
      at: (value, name) => ({ messages: [...(name === 'tool' ? [CHAT_CALL] : []), value, USER] }),
      base: (_, name) => ({ messages: [...(name === 'tool' ? [CHAT_CALL] : []), USER] }),
    },
    part: {
      type: chatType('ChatCompletionContentPart'),
      at: (value) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, value] }] }),
    },
    tool: { type: chatType('ChatCompletionTool'), at: (value) => ({ tools: [value] }) },
    choice: {
      type: chatType('ChatCompletionToolChoiceOption'),
      at: (value) => ({ tools: [CHAT_FUNCTION], tool_choice: value }),
    },
  },
  responses: {
    item: {
      type: responsesType('ResponseInputItem'),
      at: (value, name) => ({ input: [...before(name), value, USER] }),
      base: (_, name) => ({ input: [...before(name), USER] }),
    },
    part: {
      type: responsesType('ResponseInputContent'),
      at: (value) => ({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }, value] }] }),
    },
    tool: { type: responsesType('Tool'), at: (value) => ({ tools: [value] }) },
  },
  messages: {
    block: {
      type: messagesType('BetaContentBlockParam'),
      at: (value, name) => ({ messages: placed(name, [value]) }),
      base: (_, name) => ({ messages: placed(name, []) }),
    },
    result: {
      type: resultType(),
      at: (value) => ({ messages: placed('tool_result', [{ ...RESULT, content: [value] }]) }),
      base: () => ({ messages: placed('tool_result', [RESULT]) }),
    },
    tool: { type: messagesType('BetaToolUnion'), at: (value) => ({ tools: [value] }) },
  },
}

/** Fields that a kind needs beside those that its type requires. */
const MORE: Body = {
  'part file': { file: { file_data: 'data:application/pdf;base64,JVBERi0xLjQKJcOkw7zDtsOf' } },
  'part input_file': { file_data: 'data:application/pdf;base64,JVBERi0xLjQKJcOkw7zDtsOf' },
  'part input_image': { image_url: 'https://example.com/a.png' },
  'choice allowed_tools': {
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
  },
  'item function_call_output': { call_id: 'call_1' },
  'item tool_search_call': { execution: 'client', call_id: 'call_1', arguments: {} },
  'item computer_call_output': {
    output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAE=' },
  },
  'tool tool_search': { execution: 'client' },
  'tool mcp': { server_url: 'https://example.com/mcp', connector_id: undefined },
  'tool code_interpreter': { container: { type: 'auto' } },
  'tool shell': { environment: undefined },
  'message assistant': { content: 'Hi', audio: undefined, tool_calls: undefined, function_call: undefined },
}

const CHAT_CALL = {
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const RESULT = { type: 'tool_result', tool_use_id: 'call_1' }
const USE = { type: 'tool_use', id: 'call_1', name: 'f', input: {} }

function placed(name: string, blocks: readonly unknown[]): unknown[] {
  if (name === 'tool_result') return [USER, { role: 'assistant', content: [USE] }, { role: 'user', content: blocks }]
  if (/^tool_(?:addition|removal)$/.test(name)) return [USER, { role: 'system', content: blocks }, USER]
  if (!OF_ASSISTANT.test(name)) return [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, ...blocks] }]
  return [USER, { role: 'assistant', content: [{ type: 'text', text: 'Hi' }, ...blocks] }, USER]
}

function resultType(): Type {
  const block = resolve(messagesType('BetaToolResultBlockParam'))
  return (block.kind === 'object' && block.fields.get('content')) as Type
}

const WHOLE = {
  chat: {
    type: chatType('ChatCompletionCreateParamsNonStreaming'),
    beside: { messages: [USER], tools: [CHAT_FUNCTION] },
    values: {
      ...{ functions: [{ name: 'g' }], function_call: 'auto', metadata: { a: 'b' }, stream: true },
      stream_options: undefined,
    },
  },
  responses: {
    type: responsesType('ResponseCreateParamsNonStreaming'),
    beside: { input: 'Hello', tools: [FUNCTION] },
    values: {
      ...{
        metadata: { a: 'b' },
        text: { verbosity: 'low' },
        reasoning: { effort: 'low' },
        include: ['reasoning.encrypted_content'],
        stream: true,
      },
      ...{
        tool_choice: 'auto',
        background: false,
        context_management: [{ type: 'compaction', compact_threshold: 1000 }],
      },
    },
  },
  messages: {
    type: messagesType('MessageCreateParamsNonStreaming'),
    beside: { messages: [USER], tools: [OWN_TOOL] },
    values: { metadata: { user_id: 'a' }, output_format: { type: 'json_schema', schema: {} }, stream: true },
  },
}
type Contract = keyof typeof WHOLE

/** A request for each name in the makers' definitions of this API format. */
export function probesOf(contract: Contract, isFull: boolean): Probe[] {
  const { type, beside, values } = WHOLE[contract]
  const fields = fieldsOf(type, beside, 'model').map(([name, field]): Probe => {
    const value = (values as Body)[name] ?? sampleOf(field, isFull, name)
    const with_ = name === 'stream_options' ? { stream: true } : {}
    return {
      group: 'field',
      name,
      value,
      request: { ...beside, ...with_, [name]: value },
      base: { ...beside, ...with_ },
    }
  })
  const groups = Object.entries(GROUPS[contract]).flatMap(([group, { type, by, at, base }]) =>
    kindsOf(type, by).map(([name, kind]): Probe => {
      const value = { ...(sampleOf(kind, isFull) as Body), ...(MORE[`${group} ${name}`] as Body), [by ?? 'type']: name }
      return { group, name, value, request: at(value, name), base: base?.(value, name) ?? {} }
    }),
  )
  const seen = new Set<string>()
  return [...fields, ...groups].filter(
    ({ group, name }) => !seen.has(`${group} ${name}`) && seen.add(`${group} ${name}`),
  )
}
