import { type Bill, billFor, NO_BILL, trustedTokens } from '../domain/bill.ts'
import type { ChatWork } from '../domain/chat-work.ts'
import { promptText } from '../wire/prompt-text.ts'
import { readUsage } from '../wire/usage-counts.ts'
import type { Tally } from './tally.ts'

export type CountTokens = (text: string) => number
/** Loads the tokenizer, which is large: only an estimate calls it. */
export type LoadTokenizer = () => Promise<CountTokens>

// What a chat template adds, as OpenAI documents it, and what a picture of common size costs.
const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_ANSWER = 3
const TOKENS_PER_MEDIA = 765

/** The upstream's own counts if they can be true, else an estimate of what was delivered. */
export async function makeBill(work: ChatWork, tally: Tally, loadTokenizer: LoadTokenizer): Promise<Bill> {
  const reported = readUsage(tally.reported)
  const trusted = reported && trustedTokens(reported, work)
  if (trusted) return billFor(work, trusted, 'upstream', false)
  const countTokens = await loadTokenizer()
  const { request, promptBound, outputCap } = work
  const prompt =
    countTokens(promptText(request.body)) +
    TOKENS_PER_MESSAGE * request.messageCount +
    TOKENS_PER_ANSWER +
    TOKENS_PER_MEDIA * request.mediaCount
  const tokens = {
    prompt: Math.min(prompt, promptBound),
    completion: Math.min(tally.count(countTokens), outputCap * request.choices),
    cached: 0,
  }
  return billFor(work, tokens, 'estimate', reported !== undefined)
}

/** A failed answer is billed for what the client received of it; nothing received is free. */
export async function makePartialBill(work: ChatWork, tally: Tally, loadTokenizer: LoadTokenizer): Promise<Bill> {
  return tally.deliveredAnything ? makeBill(work, tally, loadTokenizer) : NO_BILL
}
