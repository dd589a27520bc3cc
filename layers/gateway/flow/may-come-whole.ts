import { FIRST_BYTE_TIMEOUT_MS, type UpstreamRoute } from '../domain/catalog.ts'
import { MAX_WHOLE_BYTES } from '../domain/chat.ts'
import type { PricedRequest } from '../domain/priced-request.ts'

/** The most bytes of a token in JSON. */
const MOST_BYTES_OF_TEXT = 128
/** The most bytes of a token of audio, or of one with twenty others and their log probabilities beside it. */
const MOST_BYTES_OF_MORE = 8 * 1024
const MORE_THAN_TEXT = ['logprobs', 'top_logprobs', 'audio', 'modalities']

/**
 * True if an upstream is asked for a whole answer, which is cheaper to read and carries more. An answer that may be too
 * long for that is streamed: once it is too long it would be thrown away, free to its caller and billed to us.
 */
export function mayComeWhole({ chat, catalog }: PricedRequest, route: UpstreamRoute, outputCap: number): boolean {
  // A route with a short timeout must get a first token, which a whole answer has only at its end.
  if (chat.stream || route.firstByteTimeoutMs < FIRST_BYTE_TIMEOUT_MS) return false
  if (catalog.providers.get(route.provider)?.upstreamStream) return false
  const isMore = MORE_THAN_TEXT.some((name) => chat.body[name] || chat.raw[name])
  const bytesPerToken = isMore ? MOST_BYTES_OF_MORE : MOST_BYTES_OF_TEXT
  return outputCap * chat.choices * bytesPerToken <= MAX_WHOLE_BYTES
}
