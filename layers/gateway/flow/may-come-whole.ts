import type { UpstreamRoute } from '../domain/catalog.ts'
import type { PricedRequest } from '../domain/priced-request.ts'
import { MAX_JSON_BYTES } from '../providers/http/json-reply.ts'

/** A route that gives up sooner than this must hear a first word, which a whole answer has only at its end. */
const PATIENT_MS = 300_000
/** As long as tokens get, in bytes of JSON, and as much as twenty others with their log probabilities add to one. */
const MOST_BYTES_PER_TOKEN = 128
const MOST_BYTES_OF_LOGPROBS = 8 * 1024

/**
 * Whether an upstream is asked for its answer in one piece, which is cheaper to read and carries more. An answer that
 * may be too long for that is streamed: once it is too long it would be thrown away, free to its caller and billed to us.
 */
export function mayComeWhole({ chat, catalog }: PricedRequest, route: UpstreamRoute, outputCap: number): boolean {
  if (chat.stream || route.firstByteTimeoutMs < PATIENT_MS) return false
  if (catalog.providers.get(route.provider)?.upstreamStream) return false
  const bytesPerToken = chat.body.logprobs ? MOST_BYTES_OF_LOGPROBS : MOST_BYTES_PER_TOKEN
  return outputCap * chat.choices * bytesPerToken <= MAX_JSON_BYTES
}
