import type { ContractName, EndpointName } from '../endpoints.ts'
import type { UsageSource } from './bill.ts'
import { utcDay } from './limits.ts'
import type { Nano } from './money.ts'
import type { StatedPrice } from './price.ts'

export type Outcome = 'completed' | 'refused' | 'upstream_error' | 'abandoned'

/** One route that was asked: how that ended, and how long it lasted, from the call to the end of its answer. */
export type Attempt = {
  readonly provider: string
  /** The model's name at that provider. */
  readonly model: string
  readonly result: string
  readonly ms: number
}

/** The result of a route that answered, and went on beyond its output cap. */
export const BEYOND_CAP = 'beyond_cap'

export function hasFailed({ result }: Attempt): boolean {
  return result !== 'ok' && result !== BEYOND_CAP
}

/** The waybill of one request: where it went, who carried it, what it cost. Never what it said. */
export type UsageRow = {
  readonly requestId: string
  readonly keyId: string
  readonly endpoint: EndpointName
  /** The contract that was spoken, if a model was asked. */
  readonly contract?: ContractName | undefined
  readonly startedAtMs: number
  readonly outcome: Outcome
  readonly httpStatus: number
  readonly errorCode?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly upstreamModel?: string | undefined
  /** The other model of the catalog that answered in place of the one asked for. */
  readonly fallbackModel?: string | undefined
  /** The request whose answer was given again. */
  readonly replayOf?: string | undefined
  readonly stream: boolean
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  /** Of the prompt tokens, those that the provider wrote to its cache. */
  readonly cacheWriteTokens?: number | undefined
  /** Of those, the ones that stay there for an hour. */
  readonly cacheWrite1hTokens?: number | undefined
  /** Of the completion tokens, those that the model thought with. */
  readonly reasoningTokens?: number | undefined
  /** Images in the prompt, where they have a price of their own. */
  readonly images?: number | undefined
  /** The output cap that the caller asked for, if it did, where it was lowered for the model or the balance, and to what. */
  readonly askedMaxTokens?: number | undefined
  readonly loweredMaxTokens?: number | undefined
  readonly usageSource: UsageSource
  /** Where the estimate goes by characters, because the tokenizer could not be reached. */
  readonly estimatedBy?: 'characters' | undefined
  readonly usageRejected: boolean
  /** The counted tokens come to more than was held, so the hold was charged. */
  readonly usageCapped?: boolean | undefined
  readonly cost: Nano
  readonly hold: Nano
  /** The provider's bill for the answer, if it says so itself or its route has a cost. */
  readonly upstreamCost?: Nano | undefined
  /** Where the provider itself stated that cost; else it follows from the catalog. */
  readonly upstreamCostSource?: 'provider' | undefined
  readonly priceVersion?: number | undefined
  /** Credits per million tokens by which it was charged, of its tier if it has one. */
  readonly price?: StatedPrice | undefined
  readonly attempts: readonly Attempt[]
  readonly ttftMs?: number | undefined
  readonly durationMs: number
  /** From when on the row may be gone; it stays for good, unless it is said. */
  readonly keptUntilMs?: number | undefined
}

export function keyDay(keyId: string, nowMs: number): string {
  return `${keyId}#${utcDay(nowMs)}`
}
