import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { arrayOf, boolean, either, isObject, object, oneOf, string } from '../../wire/basics/field-rules.ts'
import { innerPart, mark, textPart } from './inner-parts.ts'
import { nonEmptyText, requireValid } from './require-valid.ts'

type Block = JsonObject & { readonly type: string }

/** The messages in the format of Chat Completions, with the instructions first. */
export function innerMessages({ system, messages }: JsonObject): JsonObject[] {
  const inner: JsonObject[] = []
  if (system !== undefined) inner.push({ role: 'system', content: innerTexts(system, 'system') })
  for (const [index, message] of (messages as unknown[]).entries()) {
    addMessage(inner, message, `messages[${index}]`)
  }
  return inner
}

function addMessage(inner: JsonObject[], message: unknown, path: string): void {
  if (!isObject(message)) throw badField(path, "an object with 'role' and 'content'", message)
  const { role, content } = message
  requireValid(oneOf('user', 'assistant', 'system'), role, `${path}.role`)
  requireValid(either(string, arrayOf(object)), content, `${path}.content`)
  if (role === 'system') inner.push({ role, content: innerTexts(content, `${path}.content`) })
  else if (typeof content === 'string') inner.push({ role, content })
  else if (role === 'user') addUser(inner, blocksOf(content as JsonObject[], `${path}.content`), `${path}.content`)
  else inner.push(innerAssistant(blocksOf(content as JsonObject[], `${path}.content`), `${path}.content`))
}

function blocksOf(content: readonly JsonObject[], path: string): readonly Block[] {
  for (const [index, { type }] of content.entries()) requireValid(nonEmptyText, type, `${path}[${index}].type`)
  return content as Block[]
}

/** The results of tools are messages of their own, right after the calls. */
function addUser(inner: JsonObject[], blocks: readonly Block[], path: string): void {
  const parts: JsonObject[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_result') inner.push(innerResult(block, at))
    else if (OF_ASSISTANT.has(block.type)) throw badField(`${at}.type`, "in a message of the role 'assistant'", block)
    else for (const part of innerPart(block, at)) parts.push(part)
  }
  if (parts.length > 0 || blocks.length === 0) inner.push({ role: 'user', content: plainest(parts) })
}

const OF_ASSISTANT = new Set(['tool_use', 'thinking', 'redacted_thinking'])

function innerResult({ tool_use_id: id, content, is_error, cache_control }: JsonObject, path: string): JsonObject {
  requireValid(nonEmptyText, id, `${path}.tool_use_id`)
  if (is_error !== undefined && is_error !== null) requireValid(boolean, is_error, `${path}.is_error`)
  return {
    role: 'tool',
    tool_call_id: id,
    content: innerResultContent(content ?? '', `${path}.content`),
    ...(is_error === true && { is_error }),
    ...mark(cache_control),
  }
}

function innerResultContent(content: unknown, path: string): string | JsonObject[] {
  if (typeof content === 'string') return content
  requireValid(either(string, arrayOf(object)), content, path)
  const blocks = blocksOf(content as JsonObject[], path)
  return plainest(blocks.flatMap((block, index) => innerPart(block, `${path}[${index}]`)))
}

/** Thoughts and calls stand beside the text, in fields of their own. */
function innerAssistant(blocks: readonly Block[], path: string): JsonObject {
  const parts: JsonObject[] = []
  const calls: JsonObject[] = []
  const thoughts: JsonObject[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_use') calls.push(innerCall(block, at))
    else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      thoughts.push(innerThought(block, at, thoughts.length))
    } else if (block.type === 'tool_result') throw badField(`${at}.type`, "in a message of the role 'user'", block)
    else for (const part of innerPart(block, at)) parts.push(part)
  }
  const thinking = thoughts.map(({ text }) => text ?? '').join('')
  const [only] = thoughts
  // The text of a single thought is sent once.
  const details = thoughts.length === 1 && only ? [withoutText(only)] : thoughts
  return {
    role: 'assistant',
    content: parts.length > 0 ? plainest(parts) : null,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function innerCall({ id, name: called, input, cache_control }: JsonObject, path: string): JsonObject {
  requireValid(nonEmptyText, id, `${path}.id`)
  requireValid(nonEmptyText, called, `${path}.name`)
  requireValid(object, input, `${path}.input`)
  return { id, type: 'function', function: { name: called, arguments: JSON.stringify(input) }, ...mark(cache_control) }
}

const FORMAT = 'anthropic-claude-v1'

function innerThought({ type, thinking, signature, data }: Block, path: string, index: number): JsonObject {
  if (type === 'redacted_thinking') {
    requireValid(string, data, `${path}.data`)
    return { type: 'reasoning.encrypted', data, format: FORMAT, index }
  }
  requireValid(string, thinking, `${path}.thinking`)
  if (signature !== undefined && signature !== null) requireValid(string, signature, `${path}.signature`)
  return { type: 'reasoning.text', text: thinking, ...(signature ? { signature } : {}), format: FORMAT, index }
}

function withoutText({ text: _, ...detail }: JsonObject): JsonObject {
  return detail
}

function innerTexts(content: unknown, path: string): string | JsonObject[] {
  if (typeof content === 'string') return content
  return plainest(
    blocksOf(content as JsonObject[], path).map((block, index) => {
      requireValid(oneOf('text'), block.type, `${path}[${index}].type`)
      return textPart(block, `${path}[${index}]`)
    }),
  )
}

/** One text without a cache mark becomes the plain string that every upstream accepts. */
function plainest(parts: JsonObject[]): string | JsonObject[] {
  const [first] = parts
  if (!first) return ''
  return parts.length === 1 && first.type === 'text' && !first.cache_control ? (first.text as string) : parts
}
