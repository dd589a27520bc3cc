import type { Nano } from './money.ts'
import { costOf, type Quantities } from './price.ts'
import { holdOf, type PricedRequest } from './priced-request.ts'

export type UsageSource = 'upstream' | 'estimate' | 'none'

export type Bill = {
  readonly quantities: Quantities
  /** The part of the completion tokens that is reasoning. */
  readonly reasoning: number
  readonly source: UsageSource
  /** The tokenizer could not be reached, so the estimate goes by characters. */
  readonly estimatedBy?: 'characters' | undefined
  /** The upstream reported something that is no count, so the tokens were estimated. */
  readonly usageRejected: boolean
  /** The counts cost more than was held, so the hold is charged. */
  readonly usageCapped: boolean
  readonly cost: Nano
  /** The cost to us, as the provider stated it. */
  readonly upstreamCost?: Nano | undefined
  /** The tier in which the provider served the answer, if it is none at the list price. */
  readonly serviceTier?: string | undefined
  /** The completion tokens that the upstream counted for an answer that was cut: it bills all of them. */
  readonly generated?: number | undefined
}

export const NO_BILL: Bill = {
  quantities: { prompt: 0, cached: 0, cacheWrite: 0, cacheWrite1h: 0, completion: 0, images: 0 },
  reasoning: 0,
  source: 'none',
  usageRejected: false,
  usageCapped: false,
  cost: 0n,
}

/** Usage as an upstream reported it, not checked yet. */
export type ReportedUsage = {
  readonly prompt: unknown
  readonly completion: unknown
  readonly total: unknown
  readonly cached: unknown
  readonly cacheWrite: unknown
  /** The part of `cacheWrite` that stays for an hour; undefined if the upstream does not tell them apart. */
  readonly cacheWrite1h: unknown
  readonly reasoning: unknown
  readonly cost: Nano | undefined
}

/** The counts in a report; undefined for a count that is missing or cannot be right. */
export type Counts = {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly cached: number
  readonly cacheWrite: number
  readonly cacheWrite1h: number | undefined
  readonly reasoning: number
}

export function countsOf(reported: ReportedUsage): Counts {
  const cached = countOf(reported.cached) ?? 0
  const cacheWrite = countOf(reported.cacheWrite) ?? 0
  const prompt = wholePrompt(countOf(reported.prompt), cached + cacheWrite)
  const completion = wholeCompletion(countOf(reported.completion), countOf(reported.total), prompt)
  const reasoning = countOf(reported.reasoning) ?? Math.max(0, (completion ?? 0) - (countOf(reported.completion) ?? 0))
  const cacheWrite1h = countOf(reported.cacheWrite1h)
  return { prompt, completion, cached, cacheWrite, cacheWrite1h, reasoning: Math.min(reasoning, completion ?? 0) }
}

/** If more tokens went through a cache than the prompt has, they were counted beside the prompt. */
function wholePrompt(prompt: number | undefined, throughCache: number): number | undefined {
  if (prompt === undefined) return undefined
  return throughCache > prompt ? prompt + throughCache : prompt
}

/** Some upstreams count reasoning in the total only, and bill it all the same. */
function wholeCompletion(completion: number | undefined, total: number | undefined, prompt: number | undefined) {
  if (total === undefined || prompt === undefined || total <= prompt) return completion
  return Math.max(completion ?? 0, total - prompt)
}

/** The bill for these quantities. Counts above the hold are charged up to the hold, because the provider will bill them. */
export function billFor(priced: PricedRequest, counted: Omit<Bill, 'cost' | 'usageCapped'>): Bill {
  const cost = costOf(priced.model.tokenPrice, counted.quantities, counted.serviceTier)
  const hold = holdOf(priced)
  const usageCapped = cost > hold
  return { ...counted, usageCapped, cost: usageCapped ? hold : cost }
}

/** More than any answer has, and still a number that every table and client can hold. */
const MOST_TOKENS = 10 ** 12

function countOf(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 ? Math.min(value as number, MOST_TOKENS) : undefined
}
