import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { rejected, unsupported } from '../verdict.ts'
import { readContent, readTexts } from './read-content.ts'
import { readThoughts } from './read-thoughts.ts'
import { readToolCalls } from './read-tool-calls.ts'
import type { Cacheable, Conversation, TextPart, ToolResult, Turn, TurnPart } from './turns.ts'

/** OpenAI's messages as turns that alternate, with the instructions apart; the results of tools belong to the user. */
export function readConversation({ body }: ChatRequest): Conversation {
  const system: TextPart[] = []
  const turns: Turn[] = []
  for (const [index, message] of (body.messages as JsonObject[]).entries()) {
    const path = `messages[${index}]`
    if (message.role === 'system' || message.role === 'developer') {
      for (const text of endingCache(message, readTexts(message.content, `${path}.content`))) system.push(text)
    } else {
      addTurn(turns, { role: speakerOf(message, path), parts: endingCache(message, readParts(message, path)) })
    }
  }
  if (turns.length === 0) throw unsupported('messages', 'must hold more than instructions, which this model needs')
  return { system, turns }
}

function addTurn(turns: Turn[], turn: Turn): void {
  const last = turns.at(-1)
  if (last?.role === turn.role) for (const part of turn.parts) last.parts.push(part)
  else if (turn.parts.length > 0) turns.push(turn)
}

function speakerOf({ role }: JsonObject, path: string): Turn['role'] {
  if (role === 'assistant') return 'assistant'
  if (role === 'user' || role === 'tool') return 'user'
  throw unsupported(`${path}.role`, `is '${role}', which this model does not know; use 'tool'`)
}

function readParts(message: JsonObject, path: string): TurnPart[] {
  if (message.role === 'user') return readUser(message, path)
  return message.role === 'tool' ? [readToolResult(message, path)] : readAssistant(message, path)
}

function readUser({ content }: JsonObject, path: string): TurnPart[] {
  const parts = readContent(content, `${path}.content`)
  if (parts.length === 0) throw unsupported(`${path}.content`, 'is blank, which this model does not accept')
  return parts
}

/** Thoughts come first, as Claude demands. */
function readAssistant(message: JsonObject, path: string): TurnPart[] {
  const { content, refusal, tool_calls: calls } = message
  const parts: TurnPart[] = readThoughts(message)
  for (const text of readTexts(content, `${path}.content`)) parts.push(text)
  for (const text of readTexts(refusal, `${path}.refusal`)) parts.push(text)
  for (const call of readToolCalls(calls, `${path}.tool_calls`)) parts.push(call)
  return parts
}

/** A result is written to a cache as a whole, so a mark inside it counts for the result. */
function readToolResult({ tool_call_id: id, content, is_error }: JsonObject, path: string): ToolResult {
  if (typeof id !== 'string' || id === '') throw rejected(`${path}.tool_call_id`, 'must be the id of a tool call')
  const parts = readContent(content, `${path}.content`)
  const cacheMark = parts.findLast((part) => part.cacheMark)?.cacheMark
  return { kind: 'toolResult', id, parts, isError: is_error === true, cacheMark }
}

/** A mark on a message counts for its last part. */
function endingCache<Part extends Cacheable>({ cache_control: mark }: JsonObject, parts: Part[]): Part[] {
  const last = parts.pop()
  if (last) parts.push(mark ? { ...last, cacheMark: mark } : last)
  return parts
}
