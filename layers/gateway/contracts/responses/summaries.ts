import type { JsonObject } from '../../domain/basics/json-object.ts'
import { gainedBytes } from '../../domain/basics/normal-forms.ts'
import { badField, textIn } from '../../wire/basics/field-rules.ts'

/** The prefix of a summary that this gateway made. It is the client's own text, so it is neither signed nor encrypted. */
const MARK = 'summary.v1.'
const INTRODUCTION = 'Summary of the conversation so far, written by a model. Continue from it.\n\n'

export function packSummary(summary: string): string {
  return MARK + Buffer.from(INTRODUCTION + summary).toString('base64url')
}

/** The input with our summaries as messages, which every provider reads, and the bytes that they may gain. */
export function withSummaries(input: unknown): { readonly input: unknown; readonly gained: number } {
  if (!Array.isArray(input)) return { input, gained: 0 }
  let gained = 0
  const items = input.map((item: JsonObject, index) => {
    const sealed = textIn(item.encrypted_content)
    if (item.type !== 'compaction' || !sealed.startsWith(MARK)) return item
    const text = Buffer.from(sealed.slice(MARK.length), 'base64url').toString()
    if (text === '') throw badField(`input[${index}].encrypted_content`, 'as it was in the answer it came with', sealed)
    gained += gainedBytes(text)
    return { type: 'message', role: 'user', content: text }
  })
  return { input: items, gained }
}
