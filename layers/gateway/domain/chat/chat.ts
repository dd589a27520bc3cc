import type { ContractName } from '../../endpoints.ts'
import type { RequestCode } from '../basics/gateway-error.ts'
import type { CallKind } from '../money/price-kinds.ts'
import type { MediaKind } from '../routing/catalog.ts'
import type { UpstreamFailure } from '../routing/upstream-failure.ts'
import type { EmbeddingRequest } from './embedding.ts'

export type ChatBody = Readonly<Record<string, unknown>>

/** A request that was read: the facts by which the gateway decides, and the bodies that may go upstream. */
export type ChatRequest = {
  readonly model: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly choices: number
  /** The output cap, if the client named one; the larger of two. */
  readonly namedCap: number | undefined
  readonly messageCount: number
  readonly toolCount: number
  /** Content parts that are not text. Addresses, and data that do not tell, may be `any` kind that the model takes. */
  readonly media: Readonly<Record<MediaKind | 'any', number>>
  /** True if the request has a `cache_control`, which makes a provider write to its cache at a price of its own. */
  readonly asksCacheWrite: boolean
  /** False if nothing in it can be content that a provider sealed, or compacted. */
  readonly mayBeSealed: boolean
  readonly bytes: number
  /** The request in the format of chat completions, built from its known parts. */
  readonly body: ChatBody
  /** The fields that are not in `body`, because they are unknown or may cost more. */
  readonly unknown: readonly UnknownField[]
  /** The tools that a provider runs, which go upstream if the model has a price for their calls. */
  readonly hosted: readonly HostedTool[]
  /** Names of what only a provider of the request's own API format gets. For others it is reported as left out. */
  readonly native?: readonly string[]
  /** The request as it came. Nothing of it goes upstream but the fields that the operator allows by name. */
  readonly raw: ChatBody
  /** The same request in the format of another contract, for an upstream that speaks it. */
  readonly original?: Original | undefined
  /** True if the conversation is to be compacted: `body` asks for a summary of it. */
  readonly compacts?: boolean
  /** The texts to embed, if vectors are asked for. `body` is then in the format of embeddings. */
  readonly embedding?: EmbeddingRequest | undefined
}

type Original = {
  readonly contract: ContractName
  readonly body: ChatBody
  /** Values of the header anthropic-beta that cost nothing. */
  readonly betas?: readonly string[]
}

export type UnknownField = {
  /** The top-level field of the request that contains it, or the field itself. */
  readonly root: string
  /** The path of the field, without positions in lists. */
  readonly name: string
  readonly param: string
  readonly code: RequestCode
  readonly complaint: () => string
  /** True if a request without it is still the request, so it is left out instead of refused. */
  readonly isOptional?: true
  /** The tier that it asks for. It passes where the model has a price for that, in these formats. */
  readonly tier?: string
  readonly formats?: readonly ContractName[]
}

export type HostedTool = {
  readonly kind: CallKind
  /** The format that can carry it. */
  readonly format: ContractName
  /** The top-level field that contains it, and its position if that is a list. */
  readonly root: string
  readonly index?: number
  /** The words by which the caller's `tool_choice` may name it. */
  readonly names: readonly unknown[]
  /** Its name in reports. */
  readonly name: string
  /** The most calls that the caller allows this tool, in a format that bounds each tool by itself. */
  readonly most?: number | undefined
  /** Collections of files that it searches. */
  readonly stores?: readonly string[]
}

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
      /** The tier in which the upstream says it serves the answer, not checked yet. */
      readonly serviceTier?: unknown
      /** The end of the answer in Anthropic's format, if the upstream speaks that. `finishReason` says nearly the same. */
      readonly ending?: AnswerEnding | undefined
      /** The upstream's own name for the end of the answer, if it is not a known one. */
      readonly stopReason?: string | undefined
    }
  | { readonly kind: 'usage'; readonly usage: unknown; readonly serviceTier?: unknown }
  /** The content from here on cannot be used. Only the usage may still come, and is read: the upstream bills it. */
  | { readonly kind: 'fault'; readonly failure: UpstreamFailure }

export type AnswerEnding = {
  readonly reason: string
  readonly sequence: string | null
  readonly details: unknown
  /** The edits by which Anthropic shortened the prompt, if the caller asked for that. */
  readonly contextManagement?: unknown
}

export type ChoicePart = Extract<ChatPart, { kind: 'choice' }>

/** Parts come in batches, one for each read from the upstream. One that came whole is a list: it needs no wait. */
export type Answer = AsyncIterable<readonly ChatPart[]> | readonly (readonly ChatPart[])[]

export function isWhole(answer: Answer): answer is readonly (readonly ChatPart[])[] {
  return Array.isArray(answer)
}

export const MAX_WHOLE_BYTES = 16 * 1024 * 1024
