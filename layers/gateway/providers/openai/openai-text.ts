import type { OpenAiEntry } from '../../domain/routing/catalog.ts'
import type { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { ChatCall } from '../provider.ts'
import { unsupported } from '../verdict.ts'
import { streamFields } from './openai-request.ts'

/** Fields that we write ourselves; we also echo the prompt, and draw no choices that the caller does not get. */
const OURS: ReadonlySet<string> = new Set(['model', 'stream', 'stream_options', 'max_tokens', 'echo', 'best_of'])

/** True if the caller uses the contract of text completions, for which these upstreams have an endpoint. */
export function isTextCall({ chat }: ChatCall): boolean {
  return chat.original?.contract === 'completions'
}

/** The caller's own request, built from its known parts. */
export function toTextRequest(call: ChatCall, entry: OpenAiEntry): Record<string, unknown> {
  const fields = Object.entries({ ...call.chat.original?.body, ...call.extra }).filter(([name]) => !OURS.has(name))
  return {
    ...Object.fromEntries(fields),
    model: call.model,
    max_tokens: call.outputCap,
    ...streamFields(call, entry),
  }
}

const NOT_SERVED = new Set([404, 405])

/** Many upstreams have no text completions, or not for every model; such a route is not faulty. */
export function aboutText(failure: UpstreamFailure): UpstreamFailure {
  if (!NOT_SERVED.has(failure.detail.status ?? 0)) return failure
  return unsupported('model', 'has no text completions at its provider: ask it with POST /v1/chat/completions')
}
