import type { AnthropicEntry } from '../../domain/catalog.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { readErrorReply } from '../http/error-reply.ts'
import { isJson, readJson } from '../http/json-reply.ts'
import { post, type Reply, type Target, targetOf } from '../http/post.ts'
import { readEvents } from '../http/server-sent-events.ts'
import type { ChatCall, Provider, ReadApiKey } from '../provider.ts'
import { requireHeld } from '../require-held.ts'
import { AnthropicEvents, readMessage } from './anthropic-answer.ts'
import { toAnthropicRequest } from './anthropic-request.ts'

const API_VERSION = '2023-06-01'

export function anthropicProvider(id: string, entry: AnthropicEntry, apiKey: ReadApiKey | undefined): Provider {
  const address = `${entry.baseUrl.replace(/\/+$/, '')}/messages`
  const headers = { 'content-type': 'application/json', 'anthropic-version': API_VERSION }
  const target = targetOf(address, { ...headers, accept: 'text/event-stream, application/json' })
  const counter = targetOf(`${address}/count_tokens`, { ...headers, accept: 'application/json' })
  return {
    id,
    async chat(call) {
      const reply = await send(target, call, requireHeld(toAnthropicRequest(call), call.chat))
      const isNative = call.chat.original?.contract === 'messages'
      if (isJson(reply)) return [readMessage(await readJson(reply), isNative)]
      return readEvents(reply, call, new AnthropicEvents(isNative))
    },
    async countTokens(call) {
      const prompt = Object.entries(requireHeld(toAnthropicRequest(call), call.chat)).filter(([name]) =>
        COUNTED.has(name),
      )
      const { input_tokens: tokens } = await readJson(await send(counter, call, Object.fromEntries(prompt)))
      if (Number.isSafeInteger(tokens) && Number(tokens) > 0) return Number(tokens)
      throw new UpstreamFailure('protocol', 'The upstream sent JSON that is no count.')
    },
  }

  async function send(to: Target, { model, idleTimeoutMs, signal }: ChatCall, body: object): Promise<Reply> {
    const text = JSON.stringify(body)
    const key = apiKey && (await apiKey())
    const reply = await post({
      target: to,
      headers: key ? ['x-api-key', key] : [],
      body: text,
      idleTimeoutMs,
      signal,
    })
    if (reply.status !== 200) throw aboutUs(await readErrorReply(reply, key, model))
    return reply
  }
}

/** The fields that a request for a count may have: those that change the prompt. */
const COUNTED = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'cache_control'],
])

/** Anchored at the start: later text may be the caller's, which Anthropic quotes. */
const OUR_ACCOUNT = /^(?:your credit balance is too low|you have reached your specified [\w ]*usage limits)/i

/** Anthropic answers 400, as if to the caller, when the operator's account is out of credit or over its limit. */
function aboutUs(failure: UpstreamFailure): UpstreamFailure {
  if (failure.reason !== 'rejected' || !OUR_ACCOUNT.test(failure.message)) return failure
  const message = "The upstream refused: the account's credit or usage limit is exhausted."
  return new UpstreamFailure('credential', message, { status: failure.detail.status })
}
