import type { ContractName } from '../endpoints.ts'
import type { MediaKind } from './catalog.ts'
import type { EmbeddingRequest } from './embedding.ts'

export type ChatBody = Readonly<Record<string, unknown>>

/** A validated request: what the gateway decides by, beside the body that travels on. */
export type ChatRequest = {
  readonly model: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly choices: number
  /** The larger of max_tokens and max_completion_tokens, if the client named one. */
  readonly namedCap: number | undefined
  readonly capFields: readonly CapField[]
  readonly messageCount: number
  readonly toolCount: number
  /** Content parts that are not text. */
  readonly media: Readonly<Record<MediaKind, number>>
  /** Whether it has a `cache_control`, which makes a provider write to its cache at a price of its own. */
  readonly asksCacheWrite: boolean
  readonly bytes: number
  readonly body: ChatBody
  /** The request in the words of another contract, for an upstream that speaks it too. `body` says the same. */
  readonly original?: { readonly contract: ContractName; readonly body: ChatBody } | undefined
  /** What is to be embedded, where no words are asked for. `body` is then in the words of embeddings. */
  readonly embedding?: EmbeddingRequest | undefined
}

export type CapField = 'max_tokens' | 'max_completion_tokens'

export type Delta = Readonly<Record<string, unknown>>

/** A part of an answer, the same for every dialect. Deltas and usage have OpenAI's shape, because our contract has. */
export type ChatPart =
  | {
      readonly kind: 'choice'
      readonly index: number
      readonly delta: Delta
      readonly logprobs: unknown
      readonly finishReason: string | null
      readonly fingerprint?: string | undefined
      /** How the answer ended, in the words of an upstream that speaks Anthropic's. `finishReason` says nearly the same. */
      readonly ending?: AnswerEnding | undefined
    }
  | { readonly kind: 'usage'; readonly usage: unknown }

export type AnswerEnding = {
  readonly reason: string
  /** The caller's own text at which the answer ended. */
  readonly sequence: string | null
  /** Why the model refused. */
  readonly details: unknown
}

export type ChoicePart = Extract<ChatPart, { kind: 'choice' }>
