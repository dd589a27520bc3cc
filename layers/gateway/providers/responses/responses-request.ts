import type { ChatBody } from '../../domain/chat.ts'
import type { JsonObject } from '../../domain/json-object.ts'
import { isObject, isText } from '../../wire/field-rules.ts'
import type { FieldTable } from '../conversation/field-table.ts'
import type { ChatCall } from '../provider.ts'
import { leaveOut, unsupported } from '../verdict.ts'
import { carriedItems } from './carried-items.ts'
import { ORIGINAL_FIELDS, RESPONSES_FIELDS } from './responses-fields.ts'
import { toItems } from './to-items.ts'
import { toToolChoice, toTools } from './to-tools.ts'

const ENCRYPTED = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/** A request in the words of Responses: the caller's own words, if it spoke Responses itself. */
export function toResponsesRequest(call: ChatCall): JsonObject {
  const { chat, model, outputCap, asksWhole } = call
  const isOriginal = chat.original?.contract === 'responses'
  const { include, ...asked } = isOriginal ? fromOriginal(chat.original.body, call) : fromChat(chat.body, call)
  return {
    ...asked,
    ...withoutOurs(call.extra),
    model,
    max_output_tokens: outputCap,
    stream: !asksWhole,
    // What is thought goes to the caller and back, since nobody stores it.
    store: false,
    include: [...new Set([...(Array.isArray(include) ? include : []), ENCRYPTED])],
  }
}

function fromOriginal(body: ChatBody, call: ChatCall): JsonObject {
  const passed = passFields(body, call, ORIGINAL_FIELDS)
  const { input, include, reasoning } = passed
  return {
    ...passed,
    ...(Array.isArray(input) && { input: carriedItems(input) }),
    ...(Array.isArray(include) && { include: include.filter((name) => name === LOGPROBS) }),
    ...(isObject(reasoning) && { reasoning: copied(reasoning, ['effort', 'summary']) }),
  }
}

function fromChat(body: ChatBody, call: ChatCall): JsonObject {
  const passed = passFields(body, call, RESPONSES_FIELDS)
  const tools = toTools(passed.tools)
  const text = toText(passed)
  const choice = toToolChoice(passed.tool_choice)
  const { reasoning_effort: effort } = passed
  return {
    input: toItems(body.messages as JsonObject[]),
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(text && { text }),
    ...(isText(effort) && { reasoning: { effort } }),
    ...copied(passed, SAME),
    ...(passed.logprobs === true && { include: [LOGPROBS] }),
  }
}

/** JsonObject that both have under one name. */
const SAME = [
  'temperature',
  'top_p',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
]

function copied(body: JsonObject, names: Iterable<string>): JsonObject {
  return Object.fromEntries([...names].filter((name) => body[name] !== undefined).map((name) => [name, body[name]]))
}

function toText({ response_format: wanted, verbosity }: JsonObject): JsonObject | undefined {
  const format = toFormat(wanted)
  if (!format && !isText(verbosity)) return undefined
  return { ...(format && { format }), ...(isText(verbosity) && { verbosity }) }
}

function toFormat(format: unknown): JsonObject | undefined {
  if (!isObject(format) || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) {
    throw unsupported('response_format', "must be of type 'text', 'json_object' or 'json_schema' with this model")
  }
  return { type: 'json_schema', ...format.json_schema }
}

/** The fields that this dialect has words for. */
function passFields(body: ChatBody, call: ChatCall, known: FieldTable): JsonObject {
  const passed: [string, unknown][] = []
  for (const [name, value] of Object.entries(body)) {
    if (LEFT_OUT.has(name)) continue
    const lacks = known.get(name)
    const complaint = lacks?.(value, body)
    if (complaint !== undefined) throw unsupported(name, complaint)
    if (lacks) passed.push([name, value])
    else leaveOut(call, name, 'must be left out: this model has no such field')
  }
  return Object.fromEntries(passed)
}

function withoutOurs(extra: ChatBody): JsonObject {
  return Object.fromEntries(Object.entries(extra).filter(([name]) => !LEFT_OUT.has(name)))
}

/** Written by us, or of no use without a store. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'stream_options',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'metadata',
  'client_metadata',
  'background',
])
