import { sampleText } from '../../../tokenizer/sample-text.ts'
import { mediaTokens } from '../../domain/money/priced-request.ts'
import { promptText } from '../../wire/chat/prompt-text.ts'
import type { Tally } from '../answering/tally.ts'
import type { AdmittedChat } from '../request.ts'
import { type CountDeps, countTexts } from './count-texts.ts'

// The tokens of a chat template, as OpenAI documents them.
export const ESTIMATED_PER_MESSAGE = 4
export const ESTIMATED_PER_ANSWER = 3

/** The counts to estimate. */
export type Wanted = { readonly prompt: boolean; readonly completion: boolean }

/** A count that was not wanted has no meaning. */
export type Estimate = {
  readonly prompt: number
  readonly completion: number
  /** Estimated by characters, because the tokenizer could not be reached. */
  readonly isRough: boolean
}

const NOTHING = sampleText('')

/**
 * Tokens that were sent and delivered, never more than was held. The tokenizer is asked at most once, and not at all
 * for content that cannot be counted: files are billed at their bound, an answer with audio or images at its cap.
 */
export async function estimateUsage(
  deps: CountDeps,
  request: Pick<AdmittedChat, 'requestId' | 'deadlineMs' | 'priced'>,
  tally: Tally,
  wanted: Wanted,
): Promise<Estimate> {
  const { chat, model, catalog, promptBound, outputCap } = request.priced
  const media = mediaTokens(chat, model, catalog)
  const sent = wanted.prompt && media < promptBound ? sampleText(promptText(chat.body)) : NOTHING
  const said = wanted.completion && !tally.hasMedia ? sampleText(tally.sample) : NOTHING
  const { tokens, isRough } = await countTexts(deps, request, [...sent.pieces, ...said.pieces])
  const text = sent.scale(tokens.slice(0, sent.pieces.length))
  const prompt = text + ESTIMATED_PER_MESSAGE * chat.messageCount + ESTIMATED_PER_ANSWER + media
  const completion = tally.cutTokens + tally.scale(said.scale(tokens.slice(sent.pieces.length)))
  const cap = outputCap * chat.choices
  return {
    prompt: Math.min(promptBound, prompt),
    completion: tally.hasMedia ? cap : Math.min(cap, completion),
    isRough,
  }
}
