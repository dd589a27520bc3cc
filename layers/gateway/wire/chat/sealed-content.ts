import { hash } from 'node:crypto'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest, ChoicePart } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../basics/field-rules.ts'
import { THOUGHT_FORMATS } from './carried-thoughts.ts'

// A provider refuses content that another one encrypted. So the content goes to the client behind the mark of its
// provider. The mark is no secret and proves nothing: a forged one only shortens a request.

/** Letters of base64, in groups of four, for clients that decode the content. No provider's content begins so. */
const SEAL = 'Sealed01'
const MARK = new RegExp(`^${SEAL}[0-9a-f]{8}`)

const marks = new Map<string, string>()

export function sealMarkOf(provider: string): string {
  const mark = marks.get(provider) ?? SEAL + hash('sha256', provider, 'hex').slice(0, 8)
  marks.set(provider, mark)
  return mark
}

export function sealedBy(provider: string, content: string): string {
  return sealMarkOf(provider) + content
}

/** A part of an answer as it goes to the client. Claude's signatures are valid at all of its providers. */
export function sealPart(part: ChoicePart, provider: string): ChoicePart {
  const { reasoning_details: details, native, compaction } = part.delta
  if (details === undefined && native === undefined && compaction === undefined) return part
  const seal = (item: unknown): unknown => {
    if (!isObject(item)) return item
    const { format, data, encrypted_content: content } = item
    if (isText(content)) return { ...item, encrypted_content: sealedBy(provider, content) }
    return isText(data) && format === THOUGHT_FORMATS.openai ? { ...item, data: sealedBy(provider, data) } : item
  }
  const sealAll = (list: unknown) => (Array.isArray(list) ? list.map(seal) : list)
  const sealed = {
    ...(details !== undefined && { reasoning_details: sealAll(details) }),
    ...(compaction !== undefined && { compaction: sealAll(compaction) }),
    ...(isObject(native) && isObject(native.event) && { native: { ...native, event: withItem(native.event, seal) } }),
  }
  return { ...part, delta: { ...part.delta, ...sealed } }
}

function withItem(event: JsonObject, change: (item: unknown) => unknown): JsonObject {
  return event.item === undefined ? event : { ...event, item: change(event.item) }
}

/** The marks in a request: of reasoning, the latest last, and of compactions, which cannot be left out. */
export function sealsIn({ body, original }: ChatRequest) {
  const reasoning = new Set<string>()
  const compactions = new Set<string>()
  changeSealed(original?.body ?? body, (item, mark) => {
    const seen = item.type === 'compaction' ? compactions : reasoning
    seen.delete(mark)
    seen.add(mark)
    return item
  })
  const input = original?.contract === 'responses' && Array.isArray(original.body.input) ? original.body.input : []
  return { reasoning: [...reasoning], compactions: [...compactions], isCompacted: input.some(isCompaction) }
}

/** Items that only the Responses format has. */
const isCompaction = ({ type }: JsonObject) => type === 'compaction' || type === 'compaction_trigger'

/** The request for a provider: its own content is without the mark, and items that others sealed are left out. */
export function unsealedFor(chat: ChatRequest, provider: string): ChatRequest {
  const own = sealMarkOf(provider)
  const open: Change = (item, mark, field) => {
    // Messages has no formats: a mark says that the content is in this one.
    const format = field === 'data' && { format: THOUGHT_FORMATS.openai }
    return mark === own ? { ...item, ...format, [field]: (item[field] as string).slice(mark.length) } : undefined
  }
  const body = changeSealed(chat.body, open)
  const original = chat.original && { ...chat.original, body: changeSealed(chat.original.body, open) }
  const isSame = body === chat.body && original?.body === chat.original?.body
  return isSame ? chat : { ...chat, body, original }
}

type Change = (item: JsonObject, mark: string, field: string) => JsonObject | undefined

/** The lists of requests and messages, in every format, that may have sealed items. */
const LISTS = ['messages', 'input', 'content', 'reasoning_details']

/** An object with each sealed item in it changed, or without it; the object itself if nothing changed. */
function changeSealed(of: JsonObject, change: Change): JsonObject {
  let made = of
  for (const name of LISTS) {
    const list = of[name]
    if (!Array.isArray(list)) continue
    const changed = list.map((item) => (isObject(item) ? changeItem(item, change) : item))
    if (changed.every((item, index) => item === list[index])) continue
    const left = changed.filter((item) => item !== undefined)
    // Without the content of its item, a summary is left out, too.
    const isWhole = name !== 'reasoning_details' || left.length === list.length
    made = { ...made, [name]: isWhole ? left : left.filter(({ format }) => format !== THOUGHT_FORMATS.openai) }
  }
  return made
}

function changeItem(item: JsonObject, change: Change): JsonObject | undefined {
  const field = item.data === undefined ? 'encrypted_content' : 'data'
  const content = item[field]
  const mark = typeof content === 'string' ? MARK.exec(content)?.[0] : undefined
  return mark === undefined ? changeSealed(item, change) : change(item, mark, field)
}
