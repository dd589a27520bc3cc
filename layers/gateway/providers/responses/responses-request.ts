import { toFields } from '../conversation/field-table.ts'
import type { ChatCall } from '../provider.ts'
import { ORIGINAL_FIELDS, OURS, RESPONSES_FIELDS } from './responses-fields.ts'

const ENCRYPTED = 'reasoning.encrypted_content'

/** A request in the format of Responses: unchanged, if the caller used Responses itself. */
export function toResponsesRequest(call: ChatCall): Readonly<Record<string, unknown>> {
  const { chat, model, outputCap, asksWhole, extra } = call
  const { include, ...asked } =
    chat.original?.contract === 'responses'
      ? toFields(ORIGINAL_FIELDS, chat.original.body, call)
      : toFields(RESPONSES_FIELDS, chat.body, call)
  return {
    ...asked,
    ...Object.fromEntries(Object.entries(extra).filter(([name]) => !OURS.includes(name))),
    model,
    max_output_tokens: outputCap,
    stream: !asksWhole,
    // Thoughts go to the caller and back, since nothing is stored.
    store: false,
    include: [...new Set([...(Array.isArray(include) ? include : []), ENCRYPTED])],
  }
}
