import type { OpenAiEntry } from '../../domain/catalog.ts'
import type { ChatBody } from '../../domain/chat.ts'
import { isObject } from '../../wire/field-rules.ts'
import type { FieldTable } from '../conversation/field-table.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { carriedItems } from './carried-items.ts'
import { ORIGINAL_FIELDS, RESPONSES_FIELDS } from './responses-fields.ts'
import { toItems } from './to-items.ts'
import { toToolChoice, toTools } from './to-tools.ts'

type Fields = Readonly<Record<string, unknown>>

const ENCRYPTED = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/** A request in the words of Responses: the caller's own words, if it spoke Responses itself. */
export function toResponsesRequest(call: ChatCall, entry: OpenAiEntry): Fields {
  const { chat, model, outputCap, asksWhole } = call
  const isOriginal = chat.original?.contract === 'responses'
  const { include, ...asked } = isOriginal
    ? fromOriginal(chat.original.body, call, entry)
    : fromChat(chat.body, call, entry)
  return {
    ...asked,
    model,
    max_output_tokens: outputCap,
    stream: !asksWhole,
    // What is thought goes to the caller and back, since nobody stores it.
    store: false,
    include: [...new Set([...(Array.isArray(include) ? include : []), ENCRYPTED])],
  }
}

function fromOriginal(body: ChatBody, call: ChatCall, entry: OpenAiEntry): Fields {
  const passed = passFields(body, call, entry, ORIGINAL_FIELDS)
  const { input, include, reasoning, text } = passed
  return {
    ...passed,
    ...(isObject(text) && { text: copied(text, ['format', 'verbosity']) }),
    ...(Array.isArray(input) && { input: carriedItems(input) }),
    ...(Array.isArray(include) && { include: include.filter((name) => name === LOGPROBS) }),
    ...(isObject(reasoning) && { reasoning: thoughtFields(reasoning) }),
  }
}

function fromChat(body: ChatBody, call: ChatCall, entry: OpenAiEntry): Fields {
  const passed = passFields(body, call, entry, RESPONSES_FIELDS)
  const tools = toTools(passed.tools)
  const text = toText(passed)
  const choice = toToolChoice(passed.tool_choice)
  const { reasoning_effort: effort } = passed
  return {
    ...copied(passed, allowedFields(call, entry)),
    input: toItems(body.messages as Fields[]),
    ...(tools.length > 0 && { tools }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(text && { text }),
    ...(isText(effort) && { reasoning: { effort } }),
    ...copied(passed, SAME),
    ...(passed.logprobs === true && { include: [LOGPROBS] }),
  }
}

/** Fields that both have under one name. */
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

function copied(body: Fields, names: Iterable<string>): Fields {
  return Object.fromEntries([...names].filter((name) => body[name] !== undefined).map((name) => [name, body[name]]))
}

function thoughtFields({ effort, summary }: Fields): Fields {
  return { ...(isText(effort) && { effort }), ...(isText(summary) && { summary }) }
}

function toText({ response_format: wanted, verbosity }: Fields): Fields | undefined {
  const format = toFormat(wanted)
  if (!format && !isText(verbosity)) return undefined
  return { ...(format && { format }), ...(isText(verbosity) && { verbosity }) }
}

function toFormat(format: unknown): Fields | undefined {
  if (!isObject(format) || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) {
    throw unsupported('response_format', "must be of type 'text', 'json_object' or 'json_schema' with this model")
  }
  return { type: 'json_schema', ...format.json_schema }
}

const NOT_PASSED =
  'is not passed on by this gateway, because it may change what the provider bills. Leave it out; the operator can allow it with allowFields in the catalog'

function allowedFields({ allowFields }: ChatCall, entry: OpenAiEntry): ReadonlySet<string> {
  return new Set([...allowFields, ...(entry.allowFields ?? [])])
}

/** The fields that do not change the price, and those that the operator allows all the same. */
function passFields(body: ChatBody, call: ChatCall, entry: OpenAiEntry, known: FieldTable): Fields {
  const allowed = allowedFields(call, entry)
  const passed: [string, unknown][] = []
  const dropped: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (value === null || LEFT_OUT.has(name)) continue
    const complaint = allowed.has(name) ? undefined : known.get(name)?.(value, body)
    if (complaint !== undefined) throw unsupported(name, complaint)
    if (known.has(name) || allowed.has(name)) passed.push([name, value])
    else if (entry.unknownFields === 'drop') dropped.push(name)
    else throw unsupported(name, NOT_PASSED)
  }
  if (dropped.length > 0) call.noteDropped(dropped)
  return Object.fromEntries(passed)
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

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
