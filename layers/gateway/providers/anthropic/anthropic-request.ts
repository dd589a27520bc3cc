import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody } from '../../domain/chat/chat.ts'
import { isText } from '../../wire/basics/field-rules.ts'
import { chatFieldTable, readAnswerSchema, stopsOf } from '../conversation/common-fields.ts'
import { type FieldTable, fieldTable, READ, rows, sent, toFields } from '../conversation/field-table.ts'
import { readConversation, readToolOffer, type Tool, type ToolChoice } from '../conversation/read-conversation.ts'
import type { ChatCall } from '../provider.ts'
import { type Blocks, blocksFor } from './anthropic-turns.ts'

type Fields = Record<string, unknown>

/** A request in the format of Anthropic's Messages API: unchanged, if it came in that format. */
export function toAnthropicRequest(call: ChatCall): Fields {
  const { original } = call.chat
  return original?.contract === 'messages' ? toNativeRequest(call, original.body) : fromChat(call)
}

function fromChat(call: ChatCall): Fields {
  const { chat, model, outputCap, asksWhole } = call
  const { body } = chat
  const fields = toFields(ANTHROPIC_FIELDS, body, call)
  const { system, turns } = readConversation(chat)
  const blocks = blocksFor(call)
  return {
    model,
    max_tokens: outputCap,
    stream: !asksWhole,
    ...(system.length > 0 && { system: blocks.system(system) }),
    messages: turns.map(({ role, parts }) => ({ role, content: parts.map(blocks.part) })),
    ...toolFields(body, blocks),
    ...fields,
  }
}

function toolFields(body: ChatBody, blocks: Blocks): JsonObject {
  const { tools, choice } = readToolOffer(body)
  if (tools.length === 0) return {}
  const chosen = choice && toToolChoice(choice)
  const oneAtATime = body.parallel_tool_calls === false && choice !== 'none'
  return {
    tools: tools.map((tool) => blocks.marked(toTool(tool), tool)),
    ...(oneAtATime
      ? { tool_choice: { type: 'auto', ...chosen, disable_parallel_tool_use: true } }
      : chosen && { tool_choice: chosen }),
  }
}

function toTool({ name, description, parameters, isStrict }: Tool): JsonObject {
  return {
    name,
    ...(description !== '' && { description }),
    input_schema: parameters,
    ...(isStrict && { strict: true }),
  }
}

function toToolChoice(choice: ToolChoice): JsonObject {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name }
  return { type: choice === 'required' ? 'any' : choice }
}

const EFFORTS: ReadonlyMap<unknown, string> = new Map(
  Object.entries({ minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max' }),
)

export const ANTHROPIC_FIELDS: FieldTable = chatFieldTable({
  messages: READ,
  tools: READ,
  tool_choice: READ,
  parallel_tool_calls: READ,
  temperature: sent('temperature', (value) => Math.min(1, value as number)),
  top_p: sent('top_p'),
  // Other providers take 0 and -1 for no limit.
  top_k: sent('top_k', (value) => (Number(value) > 0 ? value : undefined)),
  stop: sent('stop_sequences', stopsOf),
  // The end of the prompt is marked, wherever it is.
  cache_control: sent('cache_control'),
  user: sent('metadata.user_id'),
  safety_identifier: sent('metadata.user_id', (value, { user }) => user ?? value),
  thinking: sent('thinking'),
  response_format: sent('output_config.format', toFormat),
  reasoning_effort: {
    drops: (value) => value !== 'none' && !EFFORTS.has(value),
    sends: [
      { to: 'output_config.effort', value: (wanted) => EFFORTS.get(wanted) },
      {
        to: 'thinking',
        value: (wanted, { thinking }) =>
          wanted === 'none' && thinking === undefined ? { type: 'disabled' } : undefined,
      },
    ],
  },
})

function toFormat(format: unknown): object | undefined {
  const schema = readAnswerSchema(format)?.schema
  return schema && { type: 'json_schema', schema }
}

/** Fields that the operator cannot send in place of ours. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'metadata', 'thinking', 'cache_control'],
])
/** Fields that cost no more than the tokens that the price and the output cap cover. */
const PASSED = [
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'tool_choice', 'tools', 'thinking', 'output_config'],
  ...['metadata', 'cache_control', 'service_tier', 'speed', 'context_management', 'compaction'],
]
const NATIVE_FIELDS = fieldTable({
  ...rows(PASSED, (name) => sent(name)),
  ...rows(['model', 'max_tokens', 'stream'], () => READ),
  system: sent('system', nativeContent),
  messages: sent('messages', (messages) => nativeMessages(messages as JsonObject[])),
})

/** Content that Chat Completions does not support, such as citations, is passed on; fields that may cost more not. */
export function toNativeRequest(call: ChatCall, body: JsonObject): Record<string, unknown> {
  const { model, outputCap, asksWhole, extra } = call
  return {
    ...toFields(NATIVE_FIELDS, body, call),
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !OURS.has(name))),
    model,
    max_tokens: outputCap,
    stream: !asksWhole,
  }
}

function nativeMessages(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message) => {
    const content = nativeContent(message.content)
    return Array.isArray(content) && content.length === 0 ? [] : [{ ...message, content }]
  })
}

function nativeContent(content: unknown): unknown {
  return Array.isArray(content) ? content.filter(isReadable) : content
}

/** A thought without a signature belongs to another model, and Anthropic would refuse the whole request for it. */
function isReadable({ type, signature }: JsonObject): boolean {
  return type !== 'thinking' || isText(signature)
}
