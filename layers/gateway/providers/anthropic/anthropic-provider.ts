import type { AnthropicEntry } from '../../domain/catalog.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { readErrorReply } from '../http/error-reply.ts'
import { isJson, readJson } from '../http/json-reply.ts'
import { post, targetOf } from '../http/post.ts'
import { readEvents } from '../http/server-sent-events.ts'
import type { Provider } from '../provider.ts'
import { AnthropicEvents, readMessage } from './anthropic-answer.ts'
import { toAnthropicRequest } from './anthropic-request.ts'

const API_VERSION = '2023-06-01'

/** Anthropic's Messages API. */
export function anthropicProvider(
  id: string,
  entry: AnthropicEntry,
  apiKey: () => Promise<string | undefined>,
): Provider {
  const target = targetOf(`${entry.baseUrl.replace(/\/+$/, '')}/messages`, {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'anthropic-version': API_VERSION,
  })
  return {
    id,
    async *chat(call) {
      const body = JSON.stringify(toAnthropicRequest(call))
      const key = await apiKey()
      const reply = await post({
        target,
        headers: key ? ['x-api-key', key] : [],
        body,
        idleTimeoutMs: call.idleTimeoutMs,
        mayBeginLate: call.asksWhole,
        signal: call.signal,
      })
      if (reply.status !== 200) throw aboutUs(await readErrorReply(reply, key))
      if (isJson(reply)) yield readMessage(await readJson(reply))
      else yield* readEvents(reply, call, new AnthropicEvents())
    },
  }
}

const OUR_ACCOUNT = /credit balance is too low|reached your specified [\w ]*usage limits/i

/** Anthropic answers 400, as if to the caller, when the operator's account is out of credit or over its limit. */
function aboutUs(failure: UpstreamFailure): UpstreamFailure {
  if (failure.reason !== 'rejected' || !OUR_ACCOUNT.test(failure.message)) return failure
  const message = "The upstream refused: the account's credit or usage limit is exhausted."
  return new UpstreamFailure('credential', message, { status: failure.detail.status })
}
