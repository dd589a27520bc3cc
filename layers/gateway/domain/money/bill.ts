import type { Nano } from './money.ts'
import { costOf, NO_QUANTITIES, type Quantities } from './price.ts'
import { CALLS, type CallQuantity, LIVES, PARTS, type PartQuantity } from './price-kinds.ts'
import { holdOf, type PricedRequest } from './priced-request.ts'

export type UsageSource = 'upstream' | 'estimate' | 'none'

export type Bill = {
  readonly quantities: Quantities
  readonly reasoning: number
  readonly source: UsageSource
  /** The tokenizer could not be reached, so the estimate goes by characters. */
  readonly estimatedBy?: 'characters' | undefined
  /** The upstream reported something that is no count, so the tokens were estimated. */
  readonly usageRejected: boolean
  /** The counts cost more than was held, so the hold is charged. */
  readonly usageCapped: boolean
  readonly cost: Nano
  readonly upstreamCost?: Nano | undefined
  readonly serviceTier?: string | undefined
  /** The completion tokens that the upstream counted for an answer that was cut: it bills all of them. */
  readonly generated?: number | undefined
  readonly stopReason?: string | undefined
  readonly finishReason?: string | undefined
}

export const NO_BILL: Bill = {
  quantities: NO_QUANTITIES,
  reasoning: 0,
  source: 'none',
  usageRejected: false,
  usageCapped: false,
  cost: 0n,
}

/** The counts that an upstream reported; undefined for one that is missing or is no count. */
export type ReportedUsage = Parts &
  Calls & {
    readonly prompt?: number | undefined
    readonly completion?: number | undefined
    readonly total?: number | undefined
    readonly reasoning?: number | undefined
    readonly cost?: Nano | undefined
  }

/** A life in the cache is undefined if the upstream does not tell lives apart. */
type Parts = { readonly [Name in PartQuantity]?: number | undefined }

/** Calls of tools that the provider ran. */
type Calls = { readonly [Name in CallQuantity]?: number | undefined }

/** The counts by which a request is billed; undefined for a count that must be estimated. */
export type Counts = {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly parts: { readonly [Name in PartQuantity]?: number }
  readonly calls: { readonly [Name in CallQuantity]?: number }
  readonly reasoning: number
}

/** Counts that can be read in two ways are read so that the charge is not below the bill. */
export function countsOf(reported: ReportedUsage): Counts {
  const { cached = 0, cacheWrite = 0 } = reported
  const prompt = wholePrompt(reported.prompt, cached + cacheWrite)
  const completion = wholeCompletion(reported, prompt)
  const beside = Math.max(0, (completion ?? 0) - (reported.completion ?? 0))
  const reasoning = Math.min(reported.reasoning ?? beside, completion ?? 0)
  const told = <Name extends PartQuantity | CallQuantity>(names: readonly { readonly quantity: Name }[]) =>
    Object.fromEntries(
      names.flatMap(({ quantity }) => (reported[quantity] === undefined ? [] : [[quantity, reported[quantity]]])),
    ) as { readonly [Each in Name]?: number }
  return { prompt, completion, parts: told(PARTS), calls: told(CALLS), reasoning }
}

/** No part is larger than what it is a part of. Tokens of an unknown life in a cache count as the dearest. */
export function partsWithin(prompt: number, parts: Parts, dearestLife?: PartQuantity): Pick<Quantities, PartQuantity> {
  const left = new Map<string, number>([['input', prompt]])
  const isTold = LIVES.some(({ quantity }) => parts[quantity] !== undefined)
  const within = PARTS.map(({ kind, of, quantity }) => {
    const room = left.get(of) ?? 0
    const assumed = !isTold && quantity === dearestLife ? room : 0
    const count = Math.min(parts[quantity] ?? assumed, room)
    left.set(of, room - count).set(kind, count)
    return [quantity, count]
  })
  return Object.fromEntries(within)
}

/** If more tokens went through a cache than the prompt has, they were counted beside the prompt. */
function wholePrompt(prompt: number | undefined, throughCache: number): number | undefined {
  if (prompt === undefined) return undefined
  return throughCache > prompt ? prompt + throughCache : prompt
}

/** Some upstreams count reasoning beside the completion, and bill it all the same. Only a total that fits tells. */
function wholeCompletion(reported: ReportedUsage, prompt: number | undefined): number | undefined {
  const { completion = 0, total, reasoning = 0 } = reported
  const rest = total === undefined || prompt === undefined ? 0 : total - prompt
  if (reported.completion === undefined) return rest > 0 ? rest : undefined
  const fits = total !== undefined && total >= (reported.prompt ?? 0) + completion
  return fits ? Math.max(completion, rest) : completion + reasoning
}

/** The bill for these quantities. Counts above the hold are charged up to the hold, because the provider will bill them. */
export function billFor(priced: PricedRequest, counted: Omit<Bill, 'cost' | 'usageCapped'>): Bill {
  const cost = costOf(priced.model.tokenPrice, counted.quantities, counted.serviceTier)
  const hold = holdOf(priced)
  const usageCapped = cost > hold
  return { ...counted, usageCapped, cost: usageCapped ? hold : cost }
}
