import type { AnthropicEntry } from '../../domain/routing/catalog.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { customTools } from '../conversation/read-conversation.ts'
import { readJson } from '../http/json-reply.ts'
import type { Reply } from '../http/post.ts'
import { answerReader, httpUpstream, inServiceTier, serviceTierOf } from '../http-upstream.ts'
import { requireHeld } from '../limit-request.ts'
import type { Authorize, ChatCall, Provider } from '../provider.ts'
import { AnthropicEvents, readMessage } from './anthropic-answer.ts'
import { toAnthropicRequest } from './anthropic-request.ts'

const HEADERS = { 'anthropic-version': '2023-06-01' }

const isNative = ({ chat }: ChatCall) => chat.original?.contract === 'messages'

const read = answerReader(
  (message, call) => readMessage(message, isNative(call), customTools(call.chat.body)),
  (call) => new AnthropicEvents(isNative(call), customTools(call.chat.body)),
)

export function anthropicProvider(id: string, entry: AnthropicEntry, authorize: Authorize | undefined): Provider {
  const tier = serviceTierOf(entry)
  const toRequest = (call: ChatCall) => inServiceTier(toAnthropicRequest(call), call, tier, 'standard_only')
  const { baseUrl } = entry
  const verb = httpUpstream({ baseUrl, headers: HEADERS, authorize, keyHeader: (key) => ['x-api-key', key] })
  const counting = { path: '/messages/count_tokens', toRequest: toCountRequest, read: readCount }
  return {
    id,
    chat: verb({ path: '/messages', toRequest, headersOf, read, failureOf: aboutUs }),
    countTokens: verb({ ...counting, headersOf, failureOf: aboutUs }),
  }
}

/** Without it Anthropic refuses `speed`. */
const FAST = 'fast-mode-2026-02-01'

function headersOf({ chat, tier }: ChatCall): string[] {
  const betas = [...(chat.original?.betas ?? []), ...(tier === 'fast' ? [FAST] : [])]
  return betas.length > 0 ? ['anthropic-beta', betas.join(',')] : []
}

/** The fields that a request for a count may have: those that change the prompt. */
const COUNTED = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'cache_control'],
])

function toCountRequest(call: ChatCall): object {
  const request = requireHeld(toAnthropicRequest(call), call.chat)
  return Object.fromEntries(Object.entries(request).filter(([name]) => COUNTED.has(name)))
}

async function readCount(reply: Reply): Promise<number> {
  const { input_tokens: tokens } = (await readJson(reply)).object
  if (Number.isSafeInteger(tokens) && Number(tokens) > 0) return Number(tokens)
  throw new UpstreamFailure('protocol', 'The upstream sent JSON that is no count.')
}

/** Anchored at the start: later text may be the caller's, which Anthropic quotes. */
const OUR_ACCOUNT = /^(?:your credit balance is too low|you have reached your specified [\w ]*usage limits)/i

/** Anthropic answers 400, as if to the caller, when the operator's account is out of credit or over its limit. */
function aboutUs(failure: UpstreamFailure): UpstreamFailure {
  if (failure.reason !== 'rejected' || !OUR_ACCOUNT.test(failure.message)) return failure
  const message = "The upstream refused: the account's credit or usage limit is exhausted."
  return new UpstreamFailure('credential', message, { status: failure.detail.status })
}
