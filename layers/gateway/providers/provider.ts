import type { Answer, ChatBody, ChatRequest } from '../domain/chat.ts'
import type { Embedding, EmbeddingRequest } from '../domain/embedding.ts'

/** One call to one upstream. */
export type ChatCall = {
  readonly chat: ChatRequest
  readonly outputCap: number
  /** The model's name at this upstream. */
  readonly model: string
  readonly idleTimeoutMs: number
  /** Fields beside the known ones that the operator allows, as they came. */
  readonly extra: ChatBody
  /** Whether a field that the dialect does not know is left out in place of being refused. */
  readonly dropsUnknown: boolean
  /** Whether the model's price covers what a provider writes to its cache; if not, nobody may ask for it. */
  readonly mayWriteCache: boolean
  /** Whether it covers an hour in that cache; if not, a mark asks for the default life, which is five minutes. */
  readonly mayWriteCache1h: boolean
  /** Told of the fields that are left out. */
  readonly noteDropped: (fields: readonly string[]) => void
  /** Whether the answer is asked for in one piece. A caller that gets one JSON answer has no use for a stream. */
  readonly asksWhole: boolean
  /** Aborted with an UpstreamFailure as its reason when the call must end. */
  readonly signal: AbortSignal
}

/** One batch of texts to one upstream. */
export type EmbedCall = Pick<
  ChatCall,
  'chat' | 'model' | 'idleTimeoutMs' | 'extra' | 'dropsUnknown' | 'noteDropped' | 'signal'
> & {
  readonly embedding: EmbeddingRequest
  /** The numbers in each vector. */
  readonly dimensions: number
}

/** Reads the key that a provider is asked with. Throws an UpstreamFailure. */
export type ReadApiKey = () => Promise<string>

/** An upstream dialect. It throws UpstreamFailure and nothing else. */
export type Provider = {
  readonly id: string
  /** Whoever gets a stream reads it to its end, or returns it. */
  chat(call: ChatCall): Answer | Promise<Answer>
  /** Only where the dialect has words for it. */
  embed?(call: EmbedCall): Promise<Embedding>
  /** The tokens of a prompt by the upstream's own count, where it counts for free. */
  countTokens?(call: ChatCall): Promise<number>
}
