import type { ContractName } from '../../layers/gateway/endpoints.ts'
import { type StoredItem, Violation } from './ledger.ts'
import type { Truth } from './scripted-upstream.ts'

const NANO_PER_INPUT = 1_000n
const NANO_PER_OUTPUT = 2_000n
const MOST_ATTEMPTS = 8

type Attempt = { readonly provider: string; readonly result: string }

/** What an answer is charged covers what its upstream counted, up to what was held for it, whatever was spoken. */
export function checkCoverage(row: StoredItem, truth: Truth, contract: ContractName): void {
  const { requestId, outcome, fallbackModel } = row
  const attempts = row.attempts as readonly Attempt[]
  const routes = attempts.map(({ provider }) => provider)
  if (attempts.length > MOST_ATTEMPTS || new Set(routes).size < routes.length) {
    throw new Violation(`${requestId} asked ${routes.join(', ')}`)
  }
  if (truth.lackedWords && fallbackModel !== undefined) {
    throw new Violation(`${requestId} was moved to ${fallbackModel} by a field that a dialect lacks`)
  }
  if (truth.provoked && (fallbackModel !== undefined || row.provider === 'dearer')) {
    throw new Violation(`${requestId} was moved to ${row.provider} by a failure that its caller can provoke`)
  }
  if (truth.passedOver)
    throw new Violation(`${requestId} went past a route that one caller’s one request had failed at`)
  // A row that the sweep wrote first is free: its request outlived its time.
  if (outcome === 'abandoned') return
  if (row.contract !== contract) throw new Violation(`${requestId} spoke ${contract}, and its row says ${row.contract}`)
  const cost = BigInt(row.cost as bigint)
  const owed = contract === 'embeddings' ? owedForVectors(truth) : owedFor(truth)
  const hold = BigInt(row.hold as bigint)
  const least = owed < hold ? owed : hold
  if (cost < least) throw new Violation(`${requestId} is charged ${cost}, and its upstream bills ${owed}, held ${hold}`)
  checkMargin(row)
}

/** The cheap route bills half of the price, so an answer of it is never sold below its cost, unless its counts are absurd. */
function checkMargin({ requestId, provider, cost, upstreamCost, usageCapped }: StoredItem): void {
  if (provider !== 'first' || upstreamCost === undefined || usageCapped) return
  if (BigInt(upstreamCost as bigint) > BigInt(cost as bigint)) {
    throw new Violation(`${requestId} is charged ${cost}, and costs the operator ${upstreamCost}`)
  }
}

/** An answer that nobody counted, or counted as nothing, is worth something all the same. */
function owedFor({ said: hasSaid, counted }: Truth): bigint {
  if (!hasSaid) return 0n
  if (!counted || counted.completion_tokens === 0) return NANO_PER_INPUT + NANO_PER_OUTPUT
  const { prompt_tokens: prompt, completion_tokens: said, total_tokens: total = 0 } = counted
  const completion = Math.max(said, total - prompt)
  return BigInt(prompt) * NANO_PER_INPUT + BigInt(completion) * NANO_PER_OUTPUT
}

/** Only what was read of texts has a price. */
function owedForVectors({ said: hasSaid, counted }: Truth): bigint {
  return hasSaid ? BigInt(counted?.prompt_tokens || 1) * NANO_PER_INPUT : 0n
}
