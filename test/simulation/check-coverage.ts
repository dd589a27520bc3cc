import type { ContractName } from '../../layers/gateway/endpoints.ts'
import { PLAN } from './catalogs.ts'
import { fail, nano, type StoredItem } from './ledger.ts'
import type { Truth } from './scripted-upstream.ts'

/** Nanocredits for a token of prompts above so many tokens. */
type Tier = { readonly above: number; readonly input: bigint; readonly output: bigint }
const PRICE: readonly Tier[] = [
  { above: 0, input: 1_000n, output: 2_000n },
  { above: 100, input: 2_000n, output: 4_000n },
  { above: 150, input: 1_500n, output: 3_000n },
]
const COST: readonly Tier[] = [
  { above: 0, input: 500n, output: 1_000n },
  { above: 100, input: 1_500n, output: 3_000n },
]
const NANO_PER_VECTOR_TOKEN = 1_000n
/** Every question may be so many tokens, and every answer. */
const LEAST_BOUND = { prompt: 120, completion: 5 }
const MOST_ATTEMPTS = 8

type Attempt = { readonly provider: string; readonly result: string }

/** The charge of an answer covers the tokens that its upstream counted, up to its hold, in every contract. */
export function checkCoverage(
  row: StoredItem,
  truth: Truth,
  contract: ContractName,
  body: string,
  factorOf: (version: number) => bigint,
): void {
  const { requestId, outcome, fallbackModel } = row
  const attempts = row.attempts as readonly Attempt[]
  const routes = attempts.map(({ provider }) => provider)
  if (attempts.length > MOST_ATTEMPTS || new Set(routes).size < routes.length) {
    fail(`${requestId} asked ${routes.join(', ')}`)
  }
  if (truth.lackedWords && fallbackModel !== undefined) {
    fail(`${requestId} was moved to ${fallbackModel} by a field that a dialect lacks`)
  }
  if (truth.provoked && (fallbackModel !== undefined || row.provider === 'dearer')) {
    fail(`${requestId} was moved to ${row.provider} by a failure that its caller can provoke`)
  }
  if (truth.passedOver) fail(`${requestId} went past a route that one caller’s one request had failed at`)
  // A row that the sweep wrote first is free: its request outlived its time.
  if (outcome === 'abandoned') return
  if (row.contract !== contract) fail(`${requestId} spoke ${contract}, and its row says ${row.contract}`)
  if (truth.ignoredCap !== undefined) checkCut(row, body)
  const cost = nano(row.cost)
  const factor = factorOf(row.priceVersion as number)
  const owed =
    factor *
    (row.plan === PLAN.name ? PLAN.factor : 1n) *
    (contract === 'embeddings' ? owedForVectors(truth) : owedFor(truth))
  const hold = nano(row.hold)
  const least = owed < hold ? owed : hold
  if (cost < least) fail(`${requestId} is charged ${cost}, and its upstream bills ${owed}, held ${hold}`)
  if (contract !== 'embeddings' && isWithinBounds(truth)) checkTier(row, owed, factor * owedFor(truth, COST))
  checkMargin(row)
}

/** The row has all that upstreams may bill beyond the charge: of the answer, and of those that were given up before it. */
export function checkLossOf(row: StoredItem, truth: Truth, factor: bigint): void {
  const { output } = COST[0] as Tier
  const [cost, loss] = [nano(row.cost), nano(row.loss)]
  const answered = row.outcome === 'completed' && truth.counted ? owedFor(truth, COST) : 0n
  const billed = factor * (answered + BigInt(truth.unpaid) * output)
  if (cost + loss < billed) {
    fail(`${row.requestId} is charged ${cost}, has lost ${loss}, and its upstreams bill ${billed}`)
  }
}

/** An answer within its hold is charged by its counts and the tier of its prompt, and so is its cost to us. */
function checkTier({ requestId, cost, provider, upstreamCost }: StoredItem, owed: bigint, billed: bigint): void {
  if (nano(cost) !== owed) fail(`${requestId} is charged ${cost}, and comes to ${owed}`)
  if (DEAR_ROUTES.has(provider)) return
  if (nano(upstreamCost) !== billed) {
    fail(`${requestId} is said to have cost us ${upstreamCost}, and was billed ${billed}`)
  }
}

const DEAR_ROUTES: ReadonlySet<unknown> = new Set(['dear', 'dearer'])

function isWithinBounds({ said: hasSaid, counted }: Truth): boolean {
  if (!hasSaid || !counted || counted.completion_tokens === 0) return false
  const { prompt_tokens: prompt, total_tokens: total = 0 } = counted
  return prompt <= LEAST_BOUND.prompt && total - prompt <= LEAST_BOUND.completion
}

/** The others bill less than the price, so no answer of theirs is sold below its cost, unless its counts are absurd. */
function checkMargin({ requestId, provider, cost, upstreamCost, usageCapped }: StoredItem): void {
  if (DEAR_ROUTES.has(provider) || upstreamCost === undefined || usageCapped) return
  if (nano(upstreamCost) > nano(cost)) {
    fail(`${requestId} is charged ${cost}, and costs the operator ${upstreamCost}`)
  }
}

/** How each contract says that an answer has reached its cap. */
const AT_CAP = /"(finish_reason":"length|reason":"max_output_tokens|stop_reason":"max_tokens)"/

function checkCut({ requestId, attempts }: StoredItem, body: string): void {
  const { result } = (attempts as readonly Attempt[]).at(-1) as Attempt
  if (result !== 'beyond_cap' || !AT_CAP.test(body)) {
    fail(`${requestId} was not cut at its cap`)
  }
}

/** An answer that nobody counted, or counted as nothing, is worth something all the same. */
function owedFor({ said: hasSaid, counted, ignoredCap }: Truth, price = PRICE): bigint {
  if (!hasSaid) return 0n
  const { input, output } = price.findLast(({ above }) => (counted?.prompt_tokens ?? 0) > above) ?? (price[0] as Tier)
  if (ignoredCap !== undefined) return input + BigInt(ignoredCap) * output
  if (!counted || counted.completion_tokens === 0) return input + output
  const { prompt_tokens: prompt, completion_tokens: said, total_tokens: total = 0 } = counted
  const completion = Math.max(said, total - prompt)
  return BigInt(prompt) * input + BigInt(completion) * output
}

/** Only what was read of texts has a price. */
function owedForVectors({ said: hasSaid, counted }: Truth): bigint {
  return hasSaid ? BigInt(counted?.prompt_tokens || 1) * NANO_PER_VECTOR_TOKEN : 0n
}
