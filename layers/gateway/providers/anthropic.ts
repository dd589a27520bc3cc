import type { AnthropicEntry } from '../domain/catalog.ts'
import type { ChatPart } from '../domain/chat.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { isObject } from '../wire/field-rules.ts'
import { AnthropicAnswer, eventsOf } from './anthropic-events.ts'
import { rejection } from './anthropic-rejection.ts'
import { toAnthropicRequest } from './anthropic-request.ts'
import { refusalOf } from './openai-refusal.ts'
import { post, type Reply } from './post.ts'
import type { ChatCall, Provider } from './provider.ts'
import { readAll } from './read-all.ts'
import { readEvents } from './server-sent-events.ts'

const API_VERSION = '2023-06-01'
const MAX_JSON_BYTES = 16 * 1024 * 1024

/** Anthropic's Messages API. */
export function anthropicProvider(
  id: string,
  entry: AnthropicEntry,
  apiKey: () => Promise<string | undefined>,
): Provider {
  const url = new URL(`${entry.baseUrl.replace(/\/+$/, '')}/messages`)
  return {
    id,
    async *chat(call) {
      const body = writeBody(call)
      const key = await apiKey()
      const reply = await post({
        url,
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream, application/json',
          'anthropic-version': API_VERSION,
          ...(key && { 'x-api-key': key }),
        },
        body,
        idleTimeoutMs: call.idleTimeoutMs,
        signal: call.signal,
      })
      if (reply.status !== 200) throw aboutUs(await refusalOf(reply, key))
      yield* /^application\/json\b/i.test(reply.contentType) ? readWhole(reply) : readStream(reply, mostChars(call))
    },
  }
}

/** The arguments of past tool calls were text until now: nothing has bounded their depth. */
function writeBody(call: ChatCall): string {
  const body = toAnthropicRequest(call)
  try {
    return JSON.stringify(body)
  } catch {
    throw rejection('The arguments of a tool call are nested too deeply.', 'messages')
  }
}

const OUR_ACCOUNT = /credit balance is too low|reached your specified [\w ]*usage limits/i

/** Where the operator's account is out of credit or over its limit, Anthropic answers 400 as if to the caller. */
function aboutUs(failure: UpstreamFailure): UpstreamFailure {
  if (failure.reason !== 'rejected' || !OUR_ACCOUNT.test(failure.message)) return failure
  const message = "The upstream refused: the account's credit or usage limit is exhausted."
  return new UpstreamFailure('credential', message, { status: failure.detail.status })
}

/** Events, signatures and whatever else surrounds a token are worth kilobytes, not more. */
function mostChars({ outputCap }: ChatCall): number {
  return outputCap * 8 * 1024 + 8 * 1024 * 1024
}

async function* readStream(reply: Reply, most: number): AsyncGenerator<ChatPart, void, undefined> {
  const answer = new AnthropicAnswer()
  let chars = 0
  for await (const data of readEvents(reply.bytes)) {
    chars += data.length
    if (chars > most) {
      throw new UpstreamFailure('runaway', 'The upstream sent far more than the output limit it was given.')
    }
    yield* answer.read(parse(data))
    if (answer.isWhole) return
  }
  throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
}

async function* readWhole(reply: Reply): AsyncGenerator<ChatPart, void, undefined> {
  const answer = new AnthropicAnswer()
  for (const event of eventsOf(parse(await readAll(reply.bytes, MAX_JSON_BYTES)))) yield* answer.read(event)
}

function parse(data: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch (cause) {
    throw new UpstreamFailure('protocol', 'The upstream sent something that is not JSON.', {}, { cause })
  }
  if (!isObject(value)) throw new UpstreamFailure('protocol', 'The upstream sent JSON that is not an object.')
  return value
}
