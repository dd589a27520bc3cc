import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody } from '../../domain/chat/chat.ts'
import type { Embedding } from '../../domain/chat/embedding.ts'
import type { OpenAiEntry } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import type { Reply } from '../http/post.ts'
import { answerReader, bearer, httpUpstream, inServiceTier, serviceTierOf } from '../http-upstream.ts'
import type { Authorize, ChatCall, EmbedCall, Provider } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { OpenAiEvents, readCompletion } from './openai-answer.ts'

const read = answerReader(
  (completion, _, key) => readCompletion(completion, key),
  (_, key) => new OpenAiEvents(key),
)

export type ReadEmbedding = (reply: Reply, call: EmbedCall, key: string | undefined) => Promise<Embedding>

export function openaiProvider(
  id: string,
  entry: OpenAiEntry,
  authorize: Authorize | undefined,
  readEmbedding: ReadEmbedding,
): Provider {
  const verb = httpUpstream({ ...entry, authorize, keyHeader: bearer })
  const tier = serviceTierOf(entry)
  const toRequest = (call: ChatCall) => inServiceTier(toOpenAiRequest(call, entry), call, tier)
  const chat = verb({ path: '/chat/completions', toRequest, read })
  const complete = verb({
    path: '/completions',
    // OpenAI's own text completions have no such field.
    toRequest: (call) => inServiceTier(toTextRequest(call, entry), call, entry.serviceTier),
    read,
    failureOf: aboutText,
  })
  return {
    id,
    chat: (call) => (call.chat.original?.contract === 'completions' ? complete(call) : chat(call)),
    embed: verb({
      path: '/embeddings',
      toRequest: ({ chat: { body }, extra, model }) => ({ ...body, ...extra, model }),
      read: readEmbedding,
    }),
  }
}

type Fields = Record<string, unknown>

/** Fields that we write ourselves and never take from the caller. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'],
])
/** We echo the prompt of a text completion, too, and draw no choices that the caller does not get. */
const OURS_IN_TEXT: ReadonlySet<string> = new Set([...OURS, 'echo', 'best_of'])

/** The caller's request, built from its known parts, and the fields that the operator allows beside them. */
export function toOpenAiRequest(call: ChatCall, entry: OpenAiEntry): Fields {
  const { chat, outputCap } = call
  const body = chat.original ? inPlainWords(call) : chat.body
  const request = Object.assign(without(OURS, body), without(OURS, call.extra))
  request.model = call.model
  request[entry.capField ?? capFieldAt(entry.baseUrl)] = outputCap
  return Object.assign(request, streamFields(call, entry))
}

export function toTextRequest(call: ChatCall, entry: OpenAiEntry): Fields {
  const { chat, extra, model, outputCap } = call
  const fields = without(OURS_IN_TEXT, { ...chat.original?.body, ...extra })
  return { ...fields, model, max_tokens: outputCap, ...streamFields(call, entry) }
}

/** Many upstreams have no text completions, or not for every model; such a route is not faulty. */
export function aboutText(failure: UpstreamFailure): UpstreamFailure {
  const { status = 0 } = failure.detail
  if (![404, 405].includes(status)) return failure
  const message = "'model' has no text completions at its provider: ask it with POST /v1/chat/completions."
  return new UpstreamFailure('unsupported', message, { param: 'model', code: 'unsupported_parameter', status })
}

function without(names: ReadonlySet<string>, body: ChatBody): Fields {
  const rest: Fields = {}
  // No field is named `__proto__`: such a body was refused.
  for (const name in body) if (!names.has(name)) rest[name] = body[name]
  return rest
}

function streamFields({ chat, extra, asksWhole }: ChatCall, { streamOptions = true }: OpenAiEntry): Fields {
  if (asksWhole || !streamOptions) return { stream: !asksWhole }
  const options = extra.stream_options ?? chat.body.stream_options
  return { stream: true, stream_options: { ...(isObject(options) ? options : {}), include_usage: true } }
}

/** OpenAI's newer models refuse `max_tokens`; many others ignore `max_completion_tokens`, and would not be bounded. */
function capFieldAt(baseUrl: string): 'max_completion_tokens' | 'max_tokens' {
  return /^(?:.+\.)?api\.openai\.com$/.test(new URL(baseUrl).hostname) ? 'max_completion_tokens' : 'max_tokens'
}

function inPlainWords({ chat, noteDropped }: ChatCall): ChatBody {
  const { thinking, messages, ...body } = chat.body
  if (thinking) noteDropped(['thinking'])
  if (Array.isArray(body.tools)) body.tools.forEach(requireFunction)
  return { ...body, messages: plainMessages(messages as Fields[]) }
}

function requireFunction({ type }: Fields, index: number): void {
  if (type === 'function' || type === 'custom') return
  throw unsupported(`tools[${index}].type`, "must be 'custom' with this model, which does not know Anthropic's tools")
}

/** Thoughts and error flags are left out. Images of tool results, which are text here, follow in a user's message. */
function plainMessages(messages: readonly JsonObject[]): JsonObject[] {
  const plain: JsonObject[] = []
  let pictures: JsonObject[] = []
  for (const { reasoning_details: _, is_error: __, ...message } of messages) {
    if (message.role !== 'tool') {
      if (pictures.length > 0) plain.push({ role: 'user', content: pictures })
      pictures = []
      plain.push(message)
      continue
    }
    const parts: JsonObject[] = Array.isArray(message.content) ? message.content : []
    const seen = parts.filter(({ type }) => type !== 'text')
    for (const part of seen) pictures.push(part)
    plain.push(seen.length > 0 ? { ...message, content: textsOf(parts) } : message)
  }
  if (pictures.length > 0) plain.push({ role: 'user', content: pictures })
  return plain
}

function textsOf(parts: readonly JsonObject[]): JsonObject[] {
  const texts = parts.filter(({ type }) => type === 'text')
  return texts.length > 0 ? texts : [{ type: 'text', text: 'See the next message.' }]
}
