import { type Bill, billFor, type Counts, countsOf, NO_BILL } from '../domain/bill.ts'
import { mediaTokens, type PricedRequest } from '../domain/priced-request.ts'
import { promptText } from '../wire/prompt-text.ts'
import { readUsage } from '../wire/usage-counts.ts'
import type { Tally } from './tally.ts'

type CountTokens = (text: string) => number
/** Loads the tokenizer, which is large: only an estimate calls it. */
export type LoadTokenizer = () => Promise<CountTokens>

// The tokens of a chat template, as OpenAI documents them.
const ESTIMATED_PER_MESSAGE = 4
const ESTIMATED_PER_ANSWER = 3

/** Fewer tokens than this share of our own count were counted for one choice of several only. */
const LEAST_SHARE_OF_ESTIMATE = 2 / 3

const NOTHING_COUNTED: Counts = { prompt: undefined, completion: undefined, cached: 0, cacheWrite: 0, reasoning: 0 }

/** The upstream's own counts, and where it has none that can be believed, an estimate of what was delivered. */
export async function makeBill(priced: PricedRequest, tally: Tally, loadTokenizer: LoadTokenizer): Promise<Bill> {
  const reported = readUsage(tally.reported)
  const { cached, cacheWrite, reasoning, ...counts } = reported ? countsOf(reported) : NOTHING_COUNTED
  const isSpoken = tally.deliveredAnything
  const prompt = believed(counts.prompt, isSpoken) ?? (await estimatePrompt(priced, loadTokenizer))
  const completion =
    believed(await ofAllChoices(priced, tally, counts.completion, loadTokenizer), isSpoken) ??
    (await estimateCompletion(priced, tally, loadTokenizer))
  const isEstimate = prompt !== counts.prompt || completion !== counts.completion
  return billFor(priced, {
    quantities: {
      prompt,
      completion,
      cached: Math.min(cached, prompt),
      cacheWrite: Math.min(cacheWrite, prompt - Math.min(cached, prompt)),
      images: priced.chat.media.image,
    },
    reasoning: Math.min(reasoning, completion),
    source: isEstimate ? 'estimate' : 'upstream',
    usageRejected: isEstimate && reported !== undefined,
  })
}

/** A failed answer is billed for what the client received of it; nothing received is free. */
export async function makePartialBill(
  priced: PricedRequest,
  tally: Tally,
  loadTokenizer: LoadTokenizer,
): Promise<Bill> {
  return tally.deliveredAnything ? makeBill(priced, tally, loadTokenizer) : NO_BILL
}

/** Nobody reads a prompt of no tokens, or says something with none. */
function believed(count: number | undefined, isSpoken: boolean): number | undefined {
  return count === 0 && isSpoken ? undefined : count
}

/** Some upstreams report the tokens of one choice where they gave several: then the tokens are counted here. */
async function ofAllChoices(
  priced: PricedRequest,
  tally: Tally,
  completion: number | undefined,
  loadTokenizer: LoadTokenizer,
): Promise<number | undefined> {
  if (completion === undefined || tally.choices < 2 || tally.isAtLeastSeen(completion)) return completion
  const estimate = await estimateCompletion(priced, tally, loadTokenizer)
  return completion < estimate * LEAST_SHARE_OF_ESTIMATE ? estimate : completion
}

/** Content that cannot be counted, such as a file, is billed at its bound. */
async function estimatePrompt({ chat, model, promptBound }: PricedRequest, loadTokenizer: LoadTokenizer) {
  const media = mediaTokens(chat, model)
  if (media >= promptBound) return promptBound
  const countTokens = await loadTokenizer()
  const text = countTokens(promptText(chat.body))
  return Math.min(promptBound, text + ESTIMATED_PER_MESSAGE * chat.messageCount + ESTIMATED_PER_ANSWER + media)
}

async function estimateCompletion({ chat, outputCap }: PricedRequest, tally: Tally, loadTokenizer: LoadTokenizer) {
  const cap = outputCap * chat.choices
  if (tally.hasMedia) return cap
  if (!tally.deliveredAnything) return 0
  return Math.min(cap, tally.count(await loadTokenizer()))
}
