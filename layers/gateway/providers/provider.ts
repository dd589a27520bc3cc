import type { Answer, ChatBody, ChatRequest } from '../domain/chat/chat.ts'
import type { Embedding, EmbeddingRequest } from '../domain/chat/embedding.ts'

export type ChatCall = {
  readonly chat: ChatRequest
  readonly outputCap: number
  readonly model: string
  readonly idleTimeoutMs: number
  readonly extra: ChatBody
  /** The tier of service that `extra` asks for, by the name of its price. */
  readonly tier?: string | undefined
  /** True if a field that the dialect does not know is left out instead of refused. */
  readonly dropsUnknown: boolean
  /** True if the model's price covers cache writes; if not, callers may not ask for them. */
  readonly mayWriteCache: boolean
  /** True if it covers an hour in the cache; if not, a mark asks for the default life of five minutes. */
  readonly mayWriteCache1h: boolean
  readonly noteDropped: (fields: readonly string[]) => void
  /** Called when the upstream has accepted the request: from then on it bills it. */
  readonly noteAnswered?: (() => void) | undefined
  /** True if a whole answer is asked for. A caller that gets one JSON answer has no use for a stream. */
  readonly asksWhole: boolean
  /** True if the conversation may be compacted by the upstream, which takes no output cap for that. */
  readonly compacts?: boolean
  /** Aborted with an UpstreamFailure as its reason when the call must end. */
  readonly signal: AbortSignal
}

export type EmbedCall = Pick<
  ChatCall,
  'chat' | 'model' | 'idleTimeoutMs' | 'extra' | 'dropsUnknown' | 'noteDropped' | 'noteAnswered' | 'signal'
> & { readonly embedding: EmbeddingRequest; readonly dimensions: number }

export const CONTENT_TYPE = 'application/json'

export type KeyHeader = (key: string) => readonly [string, string]

export type ToAuthorize = { readonly url: URL; readonly body: string; readonly keyHeader: KeyHeader }

/** Names and values in turns, and the secret among them: providers quote it in their errors. */
export type Authorized = { readonly headers: readonly string[]; readonly secret: string | undefined }

/** Adds the key of a provider, in the header of its dialect, or a signature. */
export type Authorize = (request: ToAuthorize) => Promise<Authorized>

/** An upstream dialect. It throws UpstreamFailure and nothing else. */
export type Provider = {
  readonly id: string
  /** The caller of this function reads a stream to its end, or returns it. */
  chat(call: ChatCall): Answer | Promise<Answer>
  embed?(call: EmbedCall): Promise<Embedding>
  /** The tokens of a prompt by the upstream's own count, if it counts for free. */
  countTokens?(call: ChatCall): Promise<number>
}
