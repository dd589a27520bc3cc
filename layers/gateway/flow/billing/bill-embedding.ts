import { sampleText } from '../../../tokenizer/sample-text.ts'
import type { Prompt } from '../../domain/chat/embedding.ts'
import { type Bill, billFor } from '../../domain/money/bill.ts'
import { NO_QUANTITIES } from '../../domain/money/price.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { readUsage } from '../../wire/money/usage-counts.ts'
import { type CountDeps, countTexts } from './count-texts.ts'
import { type BilledRequest, toldTokens } from './make-bill.ts'

/** The upstream's own count of the texts; an estimate if it is missing or unusable. `counted` are tokens of other texts. */
export async function makeEmbeddingBill(
  deps: CountDeps,
  request: BilledRequest,
  usage: unknown,
  inputs: readonly Prompt[],
  counted = 0,
): Promise<Bill> {
  const { priced } = request
  const told = inputs.length === 0 ? 0 : toldTokens(usage)
  const estimate = told === undefined ? await estimateTexts(deps, request, inputs) : undefined
  const prompt = counted + (told ?? Math.min(priced.promptBound, estimate?.tokens ?? 0))
  return billFor(priced, {
    quantities: { ...NO_QUANTITIES, prompt },
    reasoning: 0,
    source: estimate ? 'estimate' : 'upstream',
    ...(estimate?.isRough && { estimatedBy: 'characters' as const }),
    usageRejected: estimate !== undefined && isObject(usage),
    upstreamCost: readUsage(usage)?.cost,
  })
}

export async function estimateTexts(
  deps: CountDeps,
  request: Pick<BilledRequest, 'requestId' | 'deadlineMs'>,
  inputs: readonly Prompt[],
) {
  let ids = 0
  const texts: string[] = []
  for (const input of inputs) {
    if (typeof input === 'string') texts.push(input)
    else ids += input.length
  }
  const sample = sampleText(texts.join('\n'))
  const { tokens, isRough } = await countTexts(deps, request, sample.pieces)
  return { tokens: ids + sample.scale(tokens), isRough }
}
