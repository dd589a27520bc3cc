import type { Embedding, EmbeddingRequest } from '../../domain/chat/embedding.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { RoutedRequest } from '../request.ts'
import { fieldsFor, untilBegun } from './ask-chat.ts'
import type { AskedRoute } from './try-routes.ts'

export async function askEmbedding(
  { provider, candidate, tally }: AskedRoute,
  { priced, journey }: RoutedRequest,
  wanted: EmbeddingRequest,
  signal: AbortSignal,
): Promise<Embedding> {
  const { route, allowFields } = candidate
  journey.asksWhole = true
  if (!provider.embed) {
    throw new UpstreamFailure('unsupported', "'model' has a route that makes no embeddings.", { param: 'model' })
  }
  const fields = await fieldsFor(priced, route, allowFields, journey)
  // A batch of vectors sends nothing before its end, so this timeout is for the whole of it.
  const ms = route.firstByteTimeoutMs
  const beginning = untilBegun(signal, ms, `No embedding came within ${ms} ms.`)
  try {
    return await provider.embed({
      embedding: wanted,
      dimensions: wanted.dimensions ?? priced.model.dimensions ?? 0,
      model: route.model,
      idleTimeoutMs: route.idleTimeoutMs,
      ...fields,
      noteAnswered: () => {
        tally.isAnswered = true
      },
      signal: beginning.signal,
    })
  } finally {
    beginning.begun()
  }
}
