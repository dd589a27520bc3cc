import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'

/** Messages of the Messages API as they came, except thoughts that Anthropic would refuse. */
export function nativeMessages(messages: readonly JsonObject[]): JsonObject[] {
  return messages.flatMap((message) => {
    const content = nativeContent(message.content)
    return Array.isArray(content) && content.length === 0 ? [] : [{ ...message, content }]
  })
}

export function nativeContent(content: unknown): unknown {
  return Array.isArray(content) ? content.filter(isReadable) : content
}

/** A thought without a signature belongs to another model, and Anthropic would refuse the whole request for it. */
function isReadable(block: unknown): boolean {
  return (
    !isObject(block) || block.type !== 'thinking' || (typeof block.signature === 'string' && block.signature !== '')
  )
}
