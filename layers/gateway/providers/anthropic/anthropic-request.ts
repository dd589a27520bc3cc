import type { ChatBody } from '../../domain/chat.ts'
import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'
import { requireWords } from '../conversation/field-table.ts'
import { readAnswerSchema } from '../conversation/read-answer-schema.ts'
import { readConversation } from '../conversation/read-conversation.ts'
import { readStops } from '../conversation/read-stops.ts'
import { readToolOffer, type Tool, type ToolChoice } from '../conversation/read-tools.ts'
import type { ChatCall } from '../provider.ts'
import { ANTHROPIC_FIELDS, effortOf } from './anthropic-fields.ts'
import { type Blocks, blocksFor } from './anthropic-turns.ts'
import { toNativeRequest } from './native-request.ts'

/** A request in the words of Anthropic's Messages API: its own words, if it came in them. */
export function toAnthropicRequest(call: ChatCall): JsonObject {
  const { original } = call.chat
  return original?.contract === 'messages' ? toNativeRequest(call, original.body) : fromChat(call)
}

/** A chat completion request in these words. */
function fromChat(call: ChatCall): JsonObject {
  const { chat, model, outputCap, asksWhole } = call
  const { body } = chat
  requireWords(ANTHROPIC_FIELDS, body, call)
  const { system, turns } = readConversation(chat)
  const blocks = blocksFor(call)
  const user = body.user ?? body.safety_identifier
  const stops = readStops(body.stop)
  return {
    model,
    max_tokens: outputCap,
    stream: !asksWhole,
    ...(system.length > 0 && { system: blocks.system(system) }),
    messages: turns.map(({ role, parts }) => ({ role, content: parts.map(blocks.part) })),
    ...toolFields(body, blocks),
    ...thoughtFields(body),
    ...(typeof body.temperature === 'number' && { temperature: Math.min(1, Math.max(0, body.temperature)) }),
    ...(typeof body.top_p === 'number' && { top_p: body.top_p }),
    // Elsewhere 0 and -1 stand for no limit.
    ...(typeof body.top_k === 'number' && body.top_k > 0 && { top_k: body.top_k }),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(typeof user === 'string' && { metadata: { user_id: user } }),
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

/** `thinking` is Anthropic's own field and travels as it came; an effort and a schema have one field between them. */
function thoughtFields({ thinking, reasoning_effort: wanted, response_format: format }: ChatBody): JsonObject {
  const effort = effortOf(wanted)
  const schema = readAnswerSchema(format)?.schema
  const config = { ...(effort && { effort }), ...(schema && { format: { type: 'json_schema', schema } }) }
  const isOff = wanted === 'none' && { thinking: { type: 'disabled' } }
  return {
    ...(isObject(thinking) ? { thinking } : isOff),
    ...((effort || schema) && { output_config: config }),
  }
}
