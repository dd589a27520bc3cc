import type { OpenAiEntry } from '../../domain/routing/catalog.ts'
import { answerReader, bearer, httpUpstream } from '../http-upstream.ts'
import type { Provider, ReadApiKey } from '../provider.ts'
import { inServiceTier, serviceTierOf } from '../service-tier.ts'
import { OpenAiEvents, readCompletion } from './openai-answer.ts'
import { readEmbedding, toEmbeddingRequest } from './openai-embeddings.ts'
import { aboutText, isTextCall, toOpenAiRequest, toTextRequest } from './openai-request.ts'

const read = answerReader(
  (completion, _, key) => readCompletion(completion, key),
  (_, key) => new OpenAiEvents(key),
)

export function openaiProvider(id: string, entry: OpenAiEntry, apiKey: ReadApiKey | undefined): Provider {
  const verb = httpUpstream({ ...entry, apiKey, keyHeader: bearer })
  const tier = serviceTierOf(entry)
  const chat = verb({
    path: '/chat/completions',
    toRequest: (call) => inServiceTier(toOpenAiRequest(call, entry), call, tier),
    read,
  })
  const complete = verb({
    path: '/completions',
    // OpenAI's own text completions have no such field.
    toRequest: (call) => inServiceTier(toTextRequest(call, entry), call, entry.serviceTier),
    read,
    failureOf: aboutText,
  })
  return {
    id,
    chat: (call) => (isTextCall(call) ? complete(call) : chat(call)),
    embed: verb({ path: '/embeddings', toRequest: toEmbeddingRequest, read: readEmbedding }),
  }
}
