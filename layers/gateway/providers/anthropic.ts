import type { AnthropicEntry } from '../domain/catalog.ts'
import type { ChatPart } from '../domain/chat.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { AnthropicAnswer, eventsOf } from './anthropic-events.ts'
import { rejection } from './anthropic-rejection.ts'
import { toAnthropicRequest } from './anthropic-request.ts'
import { isJson, parseObject, readJson } from './json-reply.ts'
import { post, type Reply } from './post.ts'
import type { ChatCall, Provider } from './provider.ts'
import { refusalOf } from './refusal.ts'
import { readEvents } from './server-sent-events.ts'

const API_VERSION = '2023-06-01'

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
      yield* isJson(reply) ? readWhole(reply) : readStream(reply, call)
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

async function* readStream(reply: Reply, call: ChatCall): AsyncGenerator<ChatPart, void, undefined> {
  const answer = new AnthropicAnswer()
  for await (const data of readEvents(reply.bytes, call)) {
    yield* answer.read(parseObject(data))
    if (answer.isWhole) return
  }
  throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
}

async function* readWhole(reply: Reply): AsyncGenerator<ChatPart, void, undefined> {
  const answer = new AnthropicAnswer()
  for (const event of eventsOf(await readJson(reply))) yield* answer.read(event)
}
