import { sampleText } from '../../../tokenizer/sample-text.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { type Bill, billFor, type Counts, countsOf, partsWithin } from '../../domain/money/bill.ts'
import { dearestCalls } from '../../domain/money/hosted-calls.ts'
import { NO_QUANTITIES } from '../../domain/money/price.ts'
import { dearestLife, mediaTokens, mostImages, type PricedRequest } from '../../domain/money/priced-request.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { promptText } from '../../wire/chat/prompt-text.ts'
import { CALL_COUNTS, readUsage } from '../../wire/money/usage-counts.ts'
import type { Tally } from '../answering/tally.ts'
import type { AdmittedChat } from '../request.ts'
import { type CountDeps, countTexts } from './count-texts.ts'

export type BilledRequest = Pick<AdmittedChat, 'requestId' | 'deadlineMs' | 'priced'>

/** Below this share of our own count, an upstream has counted only one of several choices. */
const LEAST_SHARE_OF_ESTIMATE = 2 / 3

/** The upstream's own counts; for a count that is missing or unusable, an estimate of the delivered tokens. */
export function makeBill(deps: CountDeps, request: BilledRequest, tally: Tally): Bill | Promise<Bill> {
  const { priced } = request
  const reported = readUsage(tally.reported)
  const counts = countsOf(reported ?? {})
  const isCut = tally.cutTokens > 0
  const { calls, isWhole } = callsOf(priced, tally, counts)
  // The upstream counts the tokens that were cut, too. No prompt has 0 tokens, and no answer with content.
  const told = {
    prompt: isWhole ? priced.promptBound : counts.prompt || undefined,
    completion: isCut || (counts.completion === 0 && tally.deliveredAnything) ? undefined : counts.completion,
  }
  const wanted = {
    prompt: told.prompt === undefined,
    completion: told.completion === undefined || mayBeOfOneChoice(told.completion, tally),
  }
  const billBy = (estimate: Estimate) => {
    const prompt = told.prompt ?? estimate.prompt
    const completion =
      told.completion === undefined || (wanted.completion && isOfOneChoice(told.completion, estimate))
        ? estimate.completion
        : told.completion
    const isEstimate = prompt !== counts.prompt || completion !== counts.completion
    return billFor(priced, {
      quantities: {
        ...NO_QUANTITIES,
        ...calls,
        prompt,
        completion,
        ...partsWithin(prompt, counts.parts, dearestLife(priced)),
        images: mostImages(priced.chat),
      },
      reasoning: Math.min(counts.reasoning, completion),
      source: isEstimate ? 'estimate' : 'upstream',
      estimatedBy: isEstimate && estimate.isRough ? 'characters' : undefined,
      usageRejected: isEstimate && !isCut && reported !== undefined && !hasCallsOnly(tally.reported),
      upstreamCost: reported?.cost,
      serviceTier: tally.serviceTier,
      generated: isCut ? counts.completion : undefined,
      stopReason: tally.stopReason,
      finishReason: tally.finishReason,
    })
  }
  if (!wanted.prompt && !wanted.completion) return billBy({ prompt: 0, completion: 0, isRough: false })
  return estimateUsage(deps, request, tally, wanted).then(billBy)
}

/** True of a usage that a dialect has counted itself, before the upstream sent one. */
const hasCallsOnly = (usage: unknown) => isObject(usage) && CALL_COUNTS in usage && Object.keys(usage).length === 1

/**
 * The calls of tools that the provider ran. If it counts none in chat, or broke off after some, the most are assumed.
 * `isWhole`: their results may have filled the context, and nobody has counted them.
 */
export function callsOf({ model }: PricedRequest, { offered }: Tally, { prompt, completion, calls }: Partial<Counts>) {
  const isCounted = Object.values(calls ?? {}).some((count) => count > 0)
  const isUnseen = offered.some(({ format }) => format === 'chat') && !isCounted
  const isWhole = (!prompt || completion === undefined) && (isCounted || isUnseen)
  return { calls: isWhole || isUnseen ? dearestCalls(offered, model, calls) : calls, isWhole }
}

/** Some upstreams report the tokens of one choice though they gave several: then the tokens are counted here. */
function mayBeOfOneChoice(completion: number, tally: Tally): boolean {
  return tally.choices >= 2 && !tally.isAtLeastSeen(completion)
}

/** A rough estimate is too rough to decide this: the upstream's count is used. */
function isOfOneChoice(completion: number, estimate: Estimate): boolean {
  return !estimate.isRough && completion < estimate.completion * LEAST_SHARE_OF_ESTIMATE
}

/** The tokens of a chat template, as OpenAI documents them: of each message, and of the answer. */
export const templateTokens = ({ messageCount }: ChatRequest): number => 4 * messageCount + 3

type Wanted = { readonly prompt: boolean; readonly completion: boolean }

/** A count that was not wanted has no meaning. */
type Estimate = {
  readonly prompt: number
  readonly completion: number
  /** Estimated by characters, because the tokenizer could not be reached. */
  readonly isRough: boolean
}

const NOTHING = sampleText('')

// Tokens that were sent and delivered, never more than was held. The tokenizer is asked at most once, and not at all
// for content that cannot be counted: files are billed at their bound, an answer with audio or images at its cap.
async function estimateUsage(deps: CountDeps, request: BilledRequest, tally: Tally, wanted: Wanted): Promise<Estimate> {
  const { chat, model, catalog, promptBound, outputCap } = request.priced
  const media = mediaTokens(chat, model, catalog)
  const sent = wanted.prompt && media < promptBound ? sampleText(promptText(chat.body)) : NOTHING
  const said = wanted.completion && !tally.hasMedia ? sampleText(tally.sample) : NOTHING
  const { tokens, isRough } = await countTexts(deps, request, [...sent.pieces, ...said.pieces])
  const prompt = sent.scale(tokens.slice(0, sent.pieces.length)) + templateTokens(chat) + media
  const completion = tally.cutTokens + tally.scale(said.scale(tokens.slice(sent.pieces.length)))
  const cap = outputCap * chat.choices
  return {
    prompt: Math.min(promptBound, prompt),
    completion: tally.hasMedia ? cap : Math.min(cap, completion),
    isRough,
  }
}

/** Some upstreams count in the total only. A count of 0 is wrong for a text. */
export function toldTokens(usage: unknown): number | undefined {
  const { prompt = 0, total = 0 } = readUsage(usage) ?? {}
  return Math.max(prompt, total) || undefined
}
