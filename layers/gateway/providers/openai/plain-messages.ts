import type { JsonObject } from '../../domain/basics/json-object.ts'

/**
 * Messages of another contract in OpenAI's format: without signed thoughts and the error flags of tools, and with the
 * images of tool results, which are text here, in a user's message after the last result.
 */
export function plainMessages(messages: readonly JsonObject[]): JsonObject[] {
  const plain: JsonObject[] = []
  let pictures: JsonObject[] = []
  for (const { reasoning_details: _, is_error: __, ...message } of messages) {
    if (message.role !== 'tool') {
      if (pictures.length > 0) plain.push({ role: 'user', content: pictures })
      pictures = []
      plain.push(message)
      continue
    }
    const parts: JsonObject[] = Array.isArray(message.content) ? message.content : []
    const seen = parts.filter(({ type }) => type !== 'text')
    for (const part of seen) pictures.push(part)
    plain.push(seen.length > 0 ? { ...message, content: textsOf(parts) } : message)
  }
  if (pictures.length > 0) plain.push({ role: 'user', content: pictures })
  return plain
}

function textsOf(parts: readonly JsonObject[]): JsonObject[] {
  const texts = parts.filter(({ type }) => type === 'text')
  return texts.length > 0 ? texts : [{ type: 'text', text: 'See the next message.' }]
}
