import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { isObject } from '../basics/field-rules.ts'
import { THOUGHT_FORMATS } from './carried-thoughts.ts'
import { SEAL, sealMarkOf } from './sealed-content.ts'

const MARK = new RegExp(`^${SEAL}[0-9a-f]{8}`)

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
