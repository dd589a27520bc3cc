import type { ChatBody } from '../../domain/chat/chat.ts'
import type { OpenAiEntry } from '../../domain/routing/catalog.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { plainMessages } from './plain-messages.ts'

type Fields = Record<string, unknown>

/** Fields that we write ourselves and never take from the caller. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'],
])

/** The caller's request, built from its known parts, and the fields that the operator allows beside them. */
export function toOpenAiRequest(call: ChatCall, entry: OpenAiEntry): Fields {
  const { chat, outputCap } = call
  const body = chat.original ? inPlainWords(call) : chat.body
  const request = Object.assign(withoutOurs(body), withoutOurs(call.extra))
  request.model = call.model
  request[entry.capField ?? capFieldAt(entry.baseUrl)] = outputCap
  return Object.assign(request, streamFields(call, entry))
}

function withoutOurs(body: ChatBody): Fields {
  const rest: Fields = {}
  // None of them is named `__proto__`: such a body was refused.
  for (const name in body) if (!OURS.has(name)) rest[name] = body[name]
  return rest
}

/** The fields for a stream, which is always asked to report its usage, or for a whole answer. */
export function streamFields({ chat, extra, asksWhole }: ChatCall, { streamOptions = true }: OpenAiEntry): Fields {
  if (asksWhole || !streamOptions) return { stream: !asksWhole }
  const options = extra.stream_options ?? chat.body.stream_options
  return { stream: true, stream_options: { ...(isObject(options) ? options : {}), include_usage: true } }
}

/** OpenAI's newer models refuse `max_tokens`; many others ignore `max_completion_tokens`, and would not be bounded. */
function capFieldAt(baseUrl: string): 'max_completion_tokens' | 'max_tokens' {
  return /^(?:.+\.)?api\.openai\.com$/.test(new URL(baseUrl).hostname) ? 'max_completion_tokens' : 'max_tokens'
}

/** A request of another contract, without content that Chat Completions does not support. */
function inPlainWords({ chat, noteDropped }: ChatCall): ChatBody {
  const { thinking, messages, ...body } = chat.body
  if (thinking) noteDropped(['thinking'])
  if (Array.isArray(body.tools)) body.tools.forEach(requireFunction)
  return { ...body, messages: plainMessages(messages as Fields[]) }
}

/** Anthropic's own tools are not supported here. */
function requireFunction({ type }: Fields, index: number): void {
  if (type === 'function' || type === 'custom') return
  throw unsupported(`tools[${index}].type`, "must be 'custom' with this model, which does not know Anthropic's tools")
}
