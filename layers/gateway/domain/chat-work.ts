import type { PricedModel } from './catalog.ts'
import type { ChatRequest } from './chat.ts'
import type { Nano } from './money.ts'
import { affordableTokens, worstCostOf } from './price.ts'

/** A request with its worst case known: what can be admitted. */
export type ChatWork = {
  readonly request: ChatRequest
  readonly model: PricedModel
  readonly catalogVersion: number
  readonly promptBound: number
  readonly outputCap: number
}

// Every byte-level tokenizer makes at most one token of a byte, so the bytes of the JSON body bound its text. What is
// not in the body: chat templates, the preamble a provider adds for tools, and media behind an address.
const TOKENS_PER_REQUEST = 64
const TOKENS_PER_MESSAGE = 16
const TOKENS_PER_TOOL = 32
const TOKENS_FOR_ANY_TOOL = 1024
const TOKENS_PER_MEDIA = 50_000

const LEAST_OUTPUT_CAP = 16

export function assessWork(request: ChatRequest, model: PricedModel, catalogVersion: number): ChatWork {
  return {
    request,
    model,
    catalogVersion,
    promptBound: promptBound(request, model),
    outputCap: request.namedCap ?? model.maxOutputTokens,
  }
}

export function holdOf(work: ChatWork): Nano {
  return worstCostOf(work.model.tokenPrice, work.promptBound, work.outputCap * work.request.choices)
}

/** The largest output cap that this balance covers; negative if not even the prompt is covered. */
export function affordableCap(work: ChatWork, available: Nano): number {
  const tokens = affordableTokens(work.model.tokenPrice, work.promptBound, available)
  return Math.min(work.model.maxOutputTokens, Math.floor(tokens / work.request.choices))
}

/** The same work with a cap that a share of the balance covers, if the client left the cap to us. */
export function lowerCap(work: ChatWork, available: Nano, share: number): ChatWork | undefined {
  if (work.request.namedCap !== undefined) return undefined
  const affordable = affordableCap(work, available)
  if (affordable < LEAST_OUTPUT_CAP) return undefined
  return { ...work, outputCap: Math.max(LEAST_OUTPUT_CAP, Math.floor(affordable * share)) }
}

function promptBound(request: ChatRequest, model: PricedModel): number {
  const tokens =
    request.bytes +
    TOKENS_PER_REQUEST +
    TOKENS_PER_MESSAGE * request.messageCount +
    (request.toolCount > 0 ? TOKENS_FOR_ANY_TOOL + TOKENS_PER_TOOL * request.toolCount : 0) +
    TOKENS_PER_MEDIA * request.mediaCount
  return Math.min(tokens, model.contextLength)
}
