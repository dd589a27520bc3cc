import type { JsonObject } from '../../domain/json-object.ts'
import { isObject } from '../../wire/field-rules.ts'
import { type CachePrices, cacheMarkOf } from '../cache-mark.ts'

const MARK = 'cache_control'

/** Blocks of the Messages API as they came, except cache marks whose price is not known. */
export type NativeBlocks = {
  messages(messages: readonly JsonObject[]): JsonObject[]
  content(content: unknown): unknown
  marked(block: JsonObject): JsonObject
}

export function nativeBlocks(prices: CachePrices): NativeBlocks {
  return { messages, content, marked }

  function messages(all: readonly JsonObject[]): JsonObject[] {
    return all.flatMap((message) => {
      const written = content(message.content)
      return Array.isArray(written) && written.length === 0 ? [] : [{ ...message, content: written }]
    })
  }

  function content(value: unknown): unknown {
    return Array.isArray(value) ? value.filter(isReadable).map(blockOf) : value
  }

  /** Blocks contain blocks: in the result of a tool, a search result, a document. The input of a tool is the caller's own. */
  function blockOf(block: unknown): unknown {
    if (!isObject(block)) return block
    const { content: inside, source } = block
    return marked({
      ...block,
      ...(Array.isArray(inside) && { content: content(inside) }),
      ...(isObject(source) &&
        Array.isArray(source.content) && { source: { ...source, content: content(source.content) } }),
    })
  }

  function marked({ [MARK]: marking, ...block }: JsonObject): JsonObject {
    const known = cacheMarkOf(marking, prices)
    return known ? { ...block, [MARK]: known } : block
  }
}

/** A thought without a signature belongs to another model, and Anthropic would refuse the whole request for it. */
function isReadable(block: unknown): boolean {
  return (
    !isObject(block) || block.type !== 'thinking' || (typeof block.signature === 'string' && block.signature !== '')
  )
}
