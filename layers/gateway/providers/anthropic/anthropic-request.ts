import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody } from '../../domain/chat/chat.ts'
import { toFields } from '../conversation/field-table.ts'
import { readConversation } from '../conversation/read-conversation.ts'
import { readToolOffer, type Tool, type ToolChoice } from '../conversation/read-tools.ts'
import type { ChatCall } from '../provider.ts'
import { ANTHROPIC_FIELDS } from './anthropic-fields.ts'
import { type Blocks, blocksFor } from './anthropic-turns.ts'
import { toNativeRequest } from './native-request.ts'

type Fields = Record<string, unknown>

/** A request in the format of Anthropic's Messages API: unchanged, if it came in that format. */
export function toAnthropicRequest(call: ChatCall): Fields {
  const { original } = call.chat
  return original?.contract === 'messages' ? toNativeRequest(call, original.body) : fromChat(call)
}

/** A chat completion request in that format. */
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
