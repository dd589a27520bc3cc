import type { ChatRequest } from '../chat/chat.ts'
import { type Catalog, MEDIA_KINDS, type MediaKind, type PricedModel, providerFields } from '../routing/catalog.ts'
import { offeredTools, type Pieces, piecesOf } from './hosted-calls.ts'
import type { Nano } from './money.ts'
import { PICO_PER_NANO, type Price, type RangePrice, roundUp } from './price.ts'
import { LIVES, PARTS, type PartQuantity } from './price-kinds.ts'

export type PricedRequest = {
  readonly chat: ChatRequest
  readonly model: PricedModel
  readonly catalog: Catalog
  readonly pinned: readonly string[] | undefined
  readonly promptBound: number
  readonly outputCap: number
  /** True if no model is asked, so that nothing is held. */
  readonly isFree?: boolean | undefined
}

// Every byte-level tokenizer makes at most one token of a byte, so the bytes of the JSON body bound its text. Not in
// the body are chat templates, the preamble that a provider adds for tools, and media.
const HELD_PER_REQUEST = 64
const HELD_PER_MESSAGE = 16
const HELD_PER_TOOL = 32
const HELD_FOR_ANY_TOOL = 1024
/** OpenAI counts at most 48,169 tokens for an image. For files, video and audio there is no known bound. */
const HELD_PER_MEDIA: Readonly<Record<MediaKind, number>> = {
  image: 50_000,
  audio: Number.POSITIVE_INFINITY,
  video: Number.POSITIVE_INFINITY,
  file: Number.POSITIVE_INFINITY,
}

const LEAST_OUTPUT_CAP = 16

export function priceRequest(
  chat: ChatRequest,
  model: PricedModel,
  catalog: Catalog,
  pinned?: readonly string[],
): PricedRequest {
  return {
    chat,
    model,
    catalog,
    pinned,
    promptBound: promptBound(chat, model, catalog),
    outputCap: Math.min(chat.namedCap ?? model.maxOutputTokens, model.maxOutputTokens),
  }
}

/** The output cap, if it is lower than the client's or the model's: because of the model, of the balance or of a limit. */
export function loweredCap({ chat, model, outputCap }: PricedRequest): number | undefined {
  return outputCap < (chat.namedCap ?? model.maxOutputTokens) ? outputCap : undefined
}

export function holdOf(priced: PricedRequest): Nano {
  return priced.isFree ? 0n : worstCostOf(priced.model.tokenPrice, worstCaseOf(priced))
}

export function worstCaseOf(priced: PricedRequest): WorstCase {
  return { ...worstPrompt(priced), completionTokens: priced.outputCap * priced.chat.choices }
}

export function affordableCap(priced: PricedRequest, available: Nano): number {
  const tokens = affordableTokens(priced.model.tokenPrice, worstPrompt(priced), available)
  return Math.min(priced.model.maxOutputTokens, Math.floor(tokens / priced.chat.choices))
}

/** The most tokens that its upstream may count for it. */
export function tokensOf({ isFree, promptBound, outputCap, chat }: PricedRequest): bigint {
  return isFree ? 0n : BigInt(promptBound + outputCap * chat.choices)
}

/** The cap of each choice if a request may have so many tokens; negative if not even its prompt may. */
export function capWithin({ promptBound, model, chat }: PricedRequest, tokens: bigint): number {
  return Math.min(model.maxOutputTokens, Math.floor((Number(tokens) - promptBound) / chat.choices))
}

/** The same request with a share of the cap that is covered, if the client left the cap to us. */
export function lowerCap(priced: PricedRequest, covered: number, share: number): PricedRequest | undefined {
  if (priced.chat.namedCap !== undefined || covered < LEAST_OUTPUT_CAP) return undefined
  return { ...priced, outputCap: Math.max(LEAST_OUTPUT_CAP, Math.floor(covered * share)) }
}

/** True if a provider may write this prompt to its cache: the caller asks for it, and its price is known. */
export function mayWriteCache({ chat, model }: PricedRequest): boolean {
  return chat.asksCacheWrite && model.price.cacheWrite !== undefined
}

/** True if a prompt that may be written to a cache may stay there for an hour, which has a price of its own. */
export function mayWriteCache1h(priced: PricedRequest): boolean {
  return mayWriteCache(priced) && priced.model.price.cacheWrite1h !== undefined
}

/** The dearest life in a cache that a prompt may be written for, if it has a price of its own. */
export function dearestLife(priced: PricedRequest): PartQuantity | undefined {
  return mayWriteCache(priced)
    ? LIVES.findLast(({ kind }) => priced.model.price[kind] !== undefined)?.quantity
    : undefined
}

/** The tier that the caller asks for, if the model has a price for it: it may be served, or the one at the list price. */
export function askedTier({ chat, model }: PricedRequest): string | undefined {
  return chat.unknown.find(({ tier }) => tier !== undefined && model.tokenPrice.serviceTiers.has(tier))?.tier
}

function worstPrompt(priced: PricedRequest): Omit<WorstCase, 'completionTokens'> {
  return { promptTokens: priced.promptBound, pieces: mostPieces(priced) }
}

/** The most pieces of all kinds. */
export function mostPieces({ chat, model, catalog }: PricedRequest): readonly Pieces[] {
  const always: Pieces[] = [
    { count: 1, of: ['requestPico'] },
    { count: mostImages(chat), of: ['imagePico'] },
  ]
  return chat.hosted.length === 0 ? always : [...always, ...piecesOf(offeredTools(chat, model, catalog), model)]
}

function promptBound(chat: ChatRequest, model: PricedModel, catalog: Catalog): number {
  const context = longestContext(model, catalog) * (chat.embedding?.inputs.length ?? 1)
  // The results of tools that a provider runs are part of the prompt.
  if (asksForMore(chat, model, catalog) || offeredTools(chat, model, catalog).length > 0) return context
  return Math.min(textBound(chat) + mediaTokens(chat, model, catalog), context)
}

/** The most tokens that a prompt can have without its media, in any format in which it goes upstream. */
export function textBound({ bytes, messageCount, toolCount }: ChatRequest): number {
  const tools = toolCount > 0 ? HELD_FOR_ANY_TOOL + HELD_PER_TOOL * toolCount : 0
  return bytes + HELD_PER_REQUEST + HELD_PER_MESSAGE * messageCount + tools
}

/** The `contextLength` of the model that answers, which no counted prompt may exceed; for a batch, the sum for all texts. */
export function answeringContext({ chat, model, catalog }: PricedRequest, fallbackModel: string | undefined): number {
  const { contextLength } = (fallbackModel === undefined ? undefined : catalog.models.get(fallbackModel)) ?? model
  return contextLength * (chat.embedding?.inputs.length ?? 1)
}

/** A fallback model may take more kinds, and count more for one. */
export function mediaTokens({ media }: ChatRequest, model: PricedModel, catalog: Catalog): number {
  let tokens = 0
  for (const name in media) {
    const kind = name as keyof typeof media
    if (media[kind] === 0) continue
    const bounds = [model, ...standInsFor(model, catalog)].map((one) => mostTokens(kind, one))
    tokens += media[kind] * Math.max(...bounds)
  }
  return tokens
}

function mostTokens(kind: MediaKind | 'any', model: PricedModel): number {
  if (kind !== 'any') return model.mediaTokens?.[kind] ?? HELD_PER_MEDIA[kind]
  return Math.max(0, ...(model.media ?? MEDIA_KINDS).map((one) => mostTokens(one, model)))
}

export function mostImages({ media }: ChatRequest): number {
  return media.image + media.any
}

function longestContext(model: PricedModel, catalog: Catalog): number {
  return Math.max(...[model, ...standInsFor(model, catalog)].map(({ contextLength }) => contextLength))
}

/** A field that the operator allows, such as a plugin, may make the provider add any text to the prompt. */
function asksForMore({ unknown, hosted }: ChatRequest, model: PricedModel, catalog: Catalog): boolean {
  if (unknown.length === 0 && hosted.length === 0) return false
  const asked = new Set([...unknown, ...hosted].map(({ root }) => root))
  const isAsked = (field: string) => asked.has(field)
  const isAskedOf = ({ routes }: PricedModel) =>
    routes.some(({ provider }) => providerFields(catalog.providers.get(provider)).some(isAsked))
  return model.allowFields?.some(isAsked) === true || isAskedOf(model) || standInsFor(model, catalog).some(isAskedOf)
}

function standInsFor({ fallback }: PricedModel, { models }: Catalog): readonly PricedModel[] {
  return fallback?.flatMap((id) => models.get(id) ?? []) ?? []
}

/** The most that a request may have, however its upstream counts the prompt within these bounds. */
export type WorstCase = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly pieces: readonly Pieces[]
}

/** The most expensive of the base price and every tier that the prompt can reach: an upper tier may be the cheaper one. */
export function worstCostOf(price: Price, worst: WorstCase): Nano {
  let most = 0n
  eachRange(price, worst, (range, before) => {
    const pico = before + BigInt(worst.completionTokens) * range.outputPico
    if (pico > most) most = pico
  })
  return roundUp(most)
}

/** The number of completion tokens that this balance covers beside the prompt's worst case; negative if not even that. */
export function affordableTokens(price: Price, worst: Omit<WorstCase, 'completionTokens'>, available: Nano): number {
  let fewest = Number.POSITIVE_INFINITY
  eachRange(price, worst, ({ outputPico }, before) => {
    const left = available * PICO_PER_NANO - before
    if (left < 0n) fewest = -1
    else if (outputPico > 0n) fewest = Math.min(fewest, Number(left / outputPico))
  })
  return fewest
}

/** Every service tier, and every range of prompt lengths within the bound, with the most that its longest prompt costs before an answer. */
function eachRange(
  price: Price,
  { promptTokens, pieces }: Omit<WorstCase, 'completionTokens'>,
  look: (range: RangePrice, beforeOutputPico: bigint) => void,
): void {
  const lookAt = (range: RangePrice, longest: number) =>
    look(range, BigInt(longest) * dearestInput(range) + dearestOf(pieces, range))
  for (const service of price.serviceTiers.values()) lookAt(service, promptTokens)
  let range: RangePrice = price
  for (let i = 0; ; i++) {
    const next = price.tiers[i]
    const longest = next && next.above < promptTokens ? next.above : promptTokens
    lookAt(range, longest)
    if (!next || longest === promptTokens) return
    range = next
  }
}

function dearestOf(pieces: readonly Pieces[], range: RangePrice): bigint {
  let sum = 0n
  for (const { count, of } of pieces) {
    if (count === 0) continue
    let most = 0n
    for (const pico of of) if (range[pico] > most) most = range[pico]
    sum += BigInt(count) * most
  }
  return sum
}

/** Providers write prompts to a cache, and read them from one, without being asked to. */
function dearestInput(range: RangePrice): bigint {
  let dearest = range.heldWritePico
  for (const name of ALWAYS_HELD) if (range[name] > dearest) dearest = range[name]
  return dearest
}

/** Writes are held for only where they have a price. */
const ALWAYS_HELD = ['inputPico', ...PARTS.flatMap(({ pico, times }) => (times ? [] : pico))] as const
