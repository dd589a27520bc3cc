import type { JsonObject } from '../../domain/basics/json-object.ts'
import { badField } from '../../wire/basics/field-rules.ts'
import { THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'

type Block = JsonObject & { readonly type: string }
type Content = string | readonly Block[]

export function innerMessages({ system, messages }: JsonObject): JsonObject[] {
  const inner: JsonObject[] = []
  if (system !== undefined) inner.push({ role: 'system', content: innerTexts(system as Content, 'system') })
  for (const [index, { role, content }] of (messages as { role: string; content: Content }[]).entries()) {
    const path = `messages[${index}].content`
    if (role === 'system') inner.push({ role, content: innerTexts(content, path) })
    else if (typeof content === 'string') inner.push({ role, content })
    else if (role === 'user') addUser(inner, content, path)
    else inner.push(innerAssistant(content, path))
  }
  return inner
}

/** The results of tools are messages of their own, right after the calls. */
function addUser(inner: JsonObject[], blocks: readonly Block[], path: string): void {
  const parts: JsonObject[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_result') inner.push(innerResult(block, at))
    else if (NATIVE.has(block.type)) continue
    else if (OF_ASSISTANT.has(block.type)) throw badField(`${at}.type`, "in a message of the role 'assistant'", block)
    else for (const part of innerPart(block, at)) parts.push(part)
  }
  if (parts.length > 0 || blocks.length === 0) inner.push({ role: 'user', content: plainest(parts) })
}

const OF_ASSISTANT = new Set(['tool_use', 'thinking', 'redacted_thinking'])

/** Blocks that providers of other API formats do not get. */
const NATIVE = new Set([
  ...['server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'tool_search_tool_result'],
  ...['tool_addition', 'tool_removal'],
])

function innerResult(block: Block, path: string): JsonObject {
  const content = (block.content ?? '') as Content
  return {
    role: 'tool',
    tool_call_id: requireName(block, 'tool_use_id', path),
    content:
      typeof content === 'string'
        ? content
        : plainest(content.flatMap((one, index) => innerPart(one, `${path}.content[${index}]`))),
    ...(block.is_error === true && { is_error: true }),
    ...mark(block),
  }
}

function innerAssistant(blocks: readonly Block[], path: string): JsonObject {
  const parts: JsonObject[] = []
  const calls: JsonObject[] = []
  const thoughts: JsonObject[] = []
  for (const [index, block] of blocks.entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_use') calls.push(innerCall(block, at))
    else if (OF_ASSISTANT.has(block.type)) thoughts.push(innerThought(block, at, thoughts.length))
    else if (NATIVE.has(block.type)) continue
    else if (block.type === 'tool_result') throw badField(`${at}.type`, "in a message of the role 'user'", block)
    else for (const part of innerPart(block, at)) parts.push(part)
  }
  const thinking = thoughts.map(({ text }) => text ?? '').join('')
  // The text of a single thought is sent once.
  const [{ text: _, ...only } = {} as JsonObject] = thoughts
  const details = thoughts.length === 1 ? [only] : thoughts
  return {
    role: 'assistant',
    content: parts.length > 0 ? plainest(parts) : null,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function innerCall(block: Block, path: string): JsonObject {
  const id = requireName(block, 'id', path)
  const member = requireName(block, 'name', path)
  const value = requireField(block, 'input', path, 'an object')
  const { toolset_name: toolset } = block
  const [name, input] = toolset ? [toolset, { action: member, input: value }] : [member, value]
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) }, ...mark(block) }
}

const FORMAT = THOUGHT_FORMATS.claude

function innerThought(block: Block, path: string, index: number): JsonObject {
  if (block.type === 'redacted_thinking') {
    return { type: 'reasoning.encrypted', data: requireField(block, 'data', path), format: FORMAT, index }
  }
  const { signature } = block
  const text = requireField(block, 'thinking', path)
  return { type: 'reasoning.text', text, ...(signature ? { signature } : {}), format: FORMAT, index }
}

function requireField(block: Block, name: string, path: string, wanted = 'a string'): unknown {
  if (block[name] === undefined) throw badField(`${path}.${name}`, wanted, undefined)
  return block[name]
}

function requireName(block: Block, name: string, path: string): unknown {
  if (!block[name]) throw badField(`${path}.${name}`, 'a non-empty string', block[name])
  return block[name]
}

function innerTexts(content: Content, path: string): string | JsonObject[] {
  if (typeof content === 'string') return content
  return plainest(
    content.flatMap((block, index) => {
      if (NATIVE.has(block.type)) return []
      if (block.type !== 'text') throw badField(`${path}[${index}].type`, ['text'], block.type)
      return [textPart(block)]
    }),
  )
}

/** One text without a cache mark becomes the plain string that every upstream accepts. */
function plainest(parts: JsonObject[]): string | JsonObject[] {
  const [first] = parts
  if (!first) return ''
  return parts.length === 1 && first.type === 'text' && !first.cache_control ? (first.text as string) : parts
}

function innerPart(block: Block, path: string): JsonObject[] {
  const { type } = block
  if (type === 'text') return [textPart(block)]
  if (type === 'image') return [{ type: 'image_url', image_url: { url: addressOf(block, path) }, ...mark(block) }]
  if (type === 'document') return documentParts(block, path)
  if (type === 'search_result') return searchParts(block)
  if (type === 'tool_reference') return [{ type: 'text', text: `Available now: ${block.tool_name}`, ...mark(block) }]
  if (type === 'compaction') return [{ type: 'text', text: block.content ?? '', ...mark(block) }]
  if (type === 'browser_state') {
    const { tabs, state_changes } = block
    return [{ type: 'text', text: JSON.stringify({ tabs, state_changes }), ...mark(block) }]
  }
  throw badField(`${path}.type`, 'a block that a message to the model may have', block)
}

function textPart(block: JsonObject): JsonObject {
  return { type: 'text', text: block.text, ...mark(block) }
}

function mark({ cache_control }: JsonObject): JsonObject {
  return cache_control === undefined ? {} : { cache_control }
}

function addressOf({ source }: Block, path: string): string {
  const { type, url, media_type, data } = source as JsonObject
  if (type === 'url') return url as string
  if (type !== 'base64') throw badField(`${path}.source.type`, ['base64', 'url'], type)
  return `data:${media_type};base64,${data}`
}

/** A document whose text is in the request is text; any other is a file. */
function documentParts(block: Block, path: string): JsonObject[] {
  const { type, data, content } = block.source as { type: string; data?: string; content?: Content }
  const about = [block.title, block.context].filter((text) => typeof text === 'string' && text !== '')
  const heading = about.map((text) => ({ type: 'text', text }))
  if (type === 'text') return [...heading, { type: 'text', text: data, ...mark(block) }]
  if (type !== 'content') {
    const file = { filename: about[0] ?? 'document.pdf', file_data: addressOf(block, path) }
    return [{ type: 'file', file, ...mark(block) }]
  }
  if (typeof content === 'string') return [...heading, { type: 'text', text: content }]
  const parts = content?.flatMap((one, index) => innerPart(one, `${path}.source.content[${index}]`)) ?? []
  return [...heading, ...parts]
}

function searchParts({ source, title, content, ...block }: Block): JsonObject[] {
  const texts = (content as Block[]).map(textPart)
  const last = texts.pop()
  return [{ type: 'text', text: `${title} (${source})` }, ...texts, ...(last ? [{ ...last, ...mark(block) }] : [])]
}
