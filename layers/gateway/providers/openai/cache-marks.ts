import type { ChatBody } from '../../domain/chat.ts'
import { isObject } from '../../wire/field-rules.ts'

type Fields = Readonly<Record<string, unknown>>

/** A longer life in the cache would have another price. */
const CACHE_CONTROL = { type: 'ephemeral' }

/** The request with every `cache_control` as the one whose price is known, or with none where none is known. */
export function withCacheMarks(body: ChatBody, mayWriteCache: boolean): ChatBody {
  const mark = (holder: unknown): unknown => {
    if (!isObject(holder) || !Object.hasOwn(holder, 'cache_control')) return holder
    const { cache_control: wanted, ...rest } = holder
    return wanted && mayWriteCache ? { ...rest, cache_control: CACHE_CONTROL } : rest
  }
  const markCall = (call: unknown) => mark(inside(call, 'function', mark))
  const markMessage = (message: unknown) =>
    mark(inside(inside(message, 'content', each(mark)), 'tool_calls', each(markCall)))
  return inside(inside(body, 'messages', each(markMessage)), 'tools', each(markCall)) as ChatBody
}

function each(change: (element: unknown) => unknown): (list: unknown) => unknown {
  return (list) => (Array.isArray(list) ? list.map(change) : list)
}

/** The holder with one field changed, if it has it. */
function inside(holder: unknown, name: string, change: (value: unknown) => unknown): unknown {
  return isObject(holder) && Object.hasOwn(holder, name)
    ? ({ ...holder, [name]: change(holder[name]) } as Fields)
    : holder
}
