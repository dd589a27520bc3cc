import { hash } from 'node:crypto'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../basics/field-rules.ts'
import { THOUGHT_FORMATS } from './carried-thoughts.ts'

// A provider refuses content that another one encrypted. So the content goes to the client behind the mark of its
// provider, which `unseal.ts` reads. The mark is no secret and proves nothing: a forged one only shortens a request.

/** Letters of base64, in groups of four, for clients that decode the content. No provider's content begins so. */
export const SEAL = 'Sealed01'

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
