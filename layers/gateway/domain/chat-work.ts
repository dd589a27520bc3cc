import { type Catalog, type MediaKind, type PricedModel, providerFields } from './catalog.ts'
import type { ChatRequest } from './chat.ts'
import type { Nano } from './money.ts'
import { affordableTokens, type WorstCase, worstCostOf } from './price.ts'

/** A request with its worst case known: what can be admitted. */
export type ChatWork = {
  readonly request: ChatRequest
  readonly model: PricedModel
  readonly promptBound: number
  readonly outputCap: number
}

// Every byte-level tokenizer makes at most one token of a byte, so the bytes of the JSON body bound its text. What is
// not in the body: chat templates, the preamble a provider adds for tools, and media.
const TOKENS_PER_REQUEST = 64
const TOKENS_PER_MESSAGE = 16
const TOKENS_PER_TOOL = 32
const TOKENS_FOR_ANY_TOOL = 1024
/** The dearest picture of OpenAI's dearest way to count them has 48,169. What a file, a film or a sound has, nobody knows. */
const MEDIA_TOKENS: Readonly<Record<MediaKind, number>> = {
  image: 50_000,
  audio: Number.POSITIVE_INFINITY,
  video: Number.POSITIVE_INFINITY,
  file: Number.POSITIVE_INFINITY,
}

const LEAST_OUTPUT_CAP = 16

export function assessWork(request: ChatRequest, model: PricedModel, catalog: Catalog): ChatWork {
  return {
    request,
    model,
    promptBound: promptBound(request, model, catalog),
    outputCap: request.namedCap ?? model.maxOutputTokens,
  }
}

export function holdOf(work: ChatWork): Nano {
  return worstCostOf(work.model.tokenPrice, worstCaseOf(work))
}

export function worstCaseOf(work: ChatWork): WorstCase {
  return { ...worstPrompt(work), completionTokens: work.outputCap * work.request.choices }
}

/** The largest output cap that this balance covers; negative if not even the prompt is covered. */
export function affordableCap(work: ChatWork, available: Nano): number {
  const tokens = affordableTokens(work.model.tokenPrice, worstPrompt(work), available)
  return Math.min(work.model.maxOutputTokens, Math.floor(tokens / work.request.choices))
}

/** The same work with a cap that a share of the balance covers, if the client left the cap to us. */
export function lowerCap(work: ChatWork, available: Nano, share: number): ChatWork | undefined {
  if (work.request.namedCap !== undefined) return undefined
  const affordable = affordableCap(work, available)
  if (affordable < LEAST_OUTPUT_CAP) return undefined
  return { ...work, outputCap: Math.max(LEAST_OUTPUT_CAP, Math.floor(affordable * share)) }
}

/** Whether a provider may write this prompt to its cache: the caller asks for it, and its price is known. */
export function mayWriteCache({ request, model }: Pick<ChatWork, 'request' | 'model'>): boolean {
  return request.asksCacheWrite && model.price.cacheWrite !== undefined
}

function worstPrompt(work: ChatWork): Omit<WorstCase, 'completionTokens'> {
  const { request, promptBound: promptTokens } = work
  return { promptTokens, images: request.media.image, writesCache: mayWriteCache(work) }
}

/** The most tokens that the prompt can be, for this model or one that may stand in for it. */
function promptBound(request: ChatRequest, model: PricedModel, catalog: Catalog): number {
  const context = longestContext(model, catalog)
  if (asksForMore(request, model, catalog)) return context
  const tokens =
    request.bytes +
    TOKENS_PER_REQUEST +
    TOKENS_PER_MESSAGE * request.messageCount +
    (request.toolCount > 0 ? TOKENS_FOR_ANY_TOOL + TOKENS_PER_TOOL * request.toolCount : 0) +
    mediaTokens(request, model)
  return Math.min(tokens, context)
}

/** The most tokens that the media of a prompt can be. */
export function mediaTokens({ media }: ChatRequest, model: PricedModel): number {
  let tokens = 0
  for (const kind in media) {
    const count = media[kind as MediaKind]
    if (count > 0) tokens += count * (model.mediaTokens?.[kind as MediaKind] ?? MEDIA_TOKENS[kind as MediaKind])
  }
  return tokens
}

function longestContext(model: PricedModel, catalog: Catalog): number {
  let longest = model.contextLength
  for (const id of model.fallback ?? []) longest = Math.max(longest, catalog.models.get(id)?.contextLength ?? 0)
  return longest
}

/** A field that the operator allows, such as a plugin, may make the provider add to the prompt whatever it likes. */
function asksForMore({ body }: ChatRequest, model: PricedModel, catalog: Catalog): boolean {
  const isAsked = (field: string) => body[field] !== undefined && body[field] !== null
  if (model.allowFields?.some(isAsked)) return true
  return model.routes.some(({ provider }) => providerFields(catalog.providers.get(provider)).some(isAsked))
}
