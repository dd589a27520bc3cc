import type { ChatBody } from '../domain/chat.ts'
import { isObject } from './field-rules.ts'

/** Everything a model reads as text: messages, tool calls and results, tool definitions, the answer's schema. */
export function promptText(body: ChatBody): string {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  const definitions = [body.tools, body.functions, body.response_format].filter((part) => part !== undefined)
  return [
    ...messages.map((message) => textOfMessage(message)),
    ...definitions.map((definition) => JSON.stringify(definition)),
  ].join('\n')
}

function textOfMessage({ role, content, tool_calls, name }: Record<string, unknown>): string {
  const parts = Array.isArray(content) ? content.filter(isObject).map((part) => part.text) : [content]
  const calls = Array.isArray(tool_calls) ? [JSON.stringify(tool_calls)] : []
  return [role, name, ...parts, ...calls].filter((part) => typeof part === 'string').join('\n')
}
