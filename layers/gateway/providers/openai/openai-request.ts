import type { OpenAiEntry } from '../../domain/catalog.ts'
import type { ChatBody } from '../../domain/chat.ts'
import { isObject } from '../../wire/field-rules.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { withCacheMarks } from './cache-marks.ts'
import { PASSED_FIELDS, type PassedFields } from './passed-fields.ts'
import { plainMessages } from './plain-messages.ts'

type Fields = Record<string, unknown>

/** These are written by us, whatever the caller wrote. */
const OURS: ReadonlySet<string> = new Set(['model', 'stream', 'max_tokens', 'max_completion_tokens'])

/** The caller's request, without the fields that may change what the provider bills. */
export function toOpenAiRequest(call: ChatCall, entry: OpenAiEntry): Fields {
  const { chat, model, outputCap } = call
  const { capField, streamOptions = true } = entry
  const leftOut = chat.original && chat.body.thinking ? ['thinking'] : []
  const { stream_options: options, ...passed } = passFields(
    chat.original ? inPlainWords(chat.body) : chat.body,
    call,
    entry,
    PASSED_FIELDS,
    OURS,
    leftOut,
  )
  const named = chat.capFields.length > 0 ? chat.capFields : (['max_tokens'] as const)
  const request: Fields = chat.asksCacheWrite ? withCacheMarks(passed, call.mayWriteCache) : passed
  request.model = model
  for (const field of capField ? [capField] : named) request[field] = outputCap
  request.stream = !call.asksWhole
  if (streamOptions && !call.asksWhole) {
    request.stream_options = { ...(isObject(options) ? options : {}), include_usage: true }
  }
  return request
}

/** The fields of a body that pass, by the rules of its contract. */
export function passFields(
  body: ChatBody,
  { allowFields, noteDropped }: Pick<ChatCall, 'allowFields' | 'noteDropped'>,
  entry: OpenAiEntry,
  rules = PASSED_FIELDS,
  ours = OURS,
  leftOut: readonly string[] = [],
): ChatBody {
  const { allowFields: ofEntry = [] } = entry
  const passed: Fields = {}
  const dropped = [...leftOut]
  // None of them is named `__proto__`: such a body was refused.
  for (const name in body) {
    const value = body[name]
    if (ours.has(name)) continue
    const isAllowed = allowFields.includes(name) || ofEntry.includes(name)
    const complaint = isAllowed ? undefined : complaintOf(rules, name, value)
    if (complaint === undefined) passed[name] = value
    else if (value === null) continue
    else if (entry.unknownFields === 'drop') dropped.push(name)
    else throw unsupported(name, complaint)
  }
  if (dropped.length > 0) noteDropped(dropped)
  return passed
}

/** A request of another contract, without what Chat Completions has no words for. */
function inPlainWords({ thinking: _, messages, ...body }: ChatBody): ChatBody {
  return { ...body, messages: plainMessages(messages as Fields[]) }
}

const WHY = 'because it may change what the provider bills'
const HOW = 'the operator can allow it with allowFields in the catalog'

function complaintOf(rules: PassedFields, name: string, value: unknown): string | undefined {
  const passes = rules.get(name)
  if (!passes) return `is not passed on by this gateway, ${WHY}. Leave it out; ${HOW}`
  const wanted = value === null ? undefined : passes(value)
  return wanted && `is passed on by this gateway only as ${wanted}, ${WHY} otherwise. Change it; ${HOW}`
}
