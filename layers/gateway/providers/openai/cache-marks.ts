import type { ChatBody } from '../../domain/chat.ts'
import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'
import { cacheMarkOf } from '../cache-mark.ts'
import type { ChatCall } from '../provider.ts'

const MARK = 'cache_control'

/** The request with every `cache_control` replaced by one whose price is known, or removed if there is none. */
export function withCacheMarks(body: ChatBody, call: ChatCall): Record<string, unknown> {
  const { messages, tools } = body
  return {
    ...body,
    messages: markAll(messages),
    ...(Array.isArray(tools) && { tools: tools.map(markTool) }),
  }

  /** Anywhere in the messages; no other field there has that name. */
  function markAll(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(markAll)
    if (!isObject(value)) return value
    const fields = Object.entries(value).filter(([name]) => name !== MARK)
    return marked(Object.fromEntries(fields.map(([name, field]) => [name, markAll(field)])), value)
  }

  /** On a tool, but not among its parameters, where the name is the caller's own. */
  function markTool(tool: unknown): unknown {
    if (!isObject(tool)) return tool
    const { [MARK]: _, function: fn, ...rest } = tool
    return marked({ ...rest, ...(fn !== undefined && { function: isObject(fn) ? markTool(fn) : fn }) }, tool)
  }

  function marked(bare: JsonObject, { [MARK]: sent }: JsonObject): JsonObject {
    const mark = cacheMarkOf(sent, call)
    return mark ? { ...bare, [MARK]: mark } : bare
  }
}
