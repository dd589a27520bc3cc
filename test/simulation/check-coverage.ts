import type { ContractName } from '../../layers/gateway/endpoints.ts'
import { type StoredItem, Violation } from './ledger.ts'
import type { Truth } from './scripted-upstream.ts'

const NANO_PER_INPUT = 1_000n
const NANO_PER_OUTPUT = 2_000n
const MOST_ATTEMPTS = 8

type Attempt = { readonly provider: string; readonly result: string }

/** What an answer is charged covers what its upstream counted, up to what was held for it, whatever was spoken. */
export function checkCoverage(row: StoredItem, truth: Truth, contract: ContractName, body: string): void {
  const { requestId, outcome, fallbackModel } = row
  const attempts = row.attempts as readonly Attempt[]
  const routes = attempts.map(({ provider }) => provider)
  if (attempts.length > MOST_ATTEMPTS || new Set(routes).size < routes.length) {
    throw new Violation(`${requestId} asked ${routes.join(', ')}`)
  }
  if (truth.lackedWords && fallbackModel !== undefined) {
    throw new Violation(`${requestId} was moved to ${fallbackModel} by a field that a dialect lacks`)
  }
  // A row that the sweep wrote first is free: its request outlived its time.
  if (outcome === 'abandoned') return
  if (row.contract !== contract) throw new Violation(`${requestId} spoke ${contract}, and its row says ${row.contract}`)
  if (truth.ignoredCap !== undefined) checkCut(row, truth, body)
  const cost = BigInt(row.cost as bigint)
  const owed = contract === 'embeddings' ? owedForVectors(truth) : owedFor(truth)
  const hold = BigInt(row.hold as bigint)
  const least = owed < hold ? owed : hold
  if (cost < least) throw new Violation(`${requestId} is charged ${cost}, and its upstream bills ${owed}, held ${hold}`)
}

/** How each contract says that an answer has reached its cap. */
const AT_CAP = /"(finish_reason":"length|reason":"max_output_tokens|stop_reason":"max_tokens)"/

function checkCut({ requestId, attempts }: StoredItem, { isHeardOn }: Truth, body: string): void {
  const { result } = (attempts as readonly Attempt[]).at(-1) as Attempt
  if (isHeardOn || result !== 'beyond_cap' || !AT_CAP.test(body)) {
    throw new Violation(`${requestId} was not cut at its cap`)
  }
}

/** An answer that nobody counted, or counted as nothing, is worth something all the same. */
function owedFor({ said: hasSaid, counted, ignoredCap }: Truth): bigint {
  if (!hasSaid) return 0n
  if (ignoredCap !== undefined) return NANO_PER_INPUT + BigInt(ignoredCap) * NANO_PER_OUTPUT
  if (!counted || counted.completion_tokens === 0) return NANO_PER_INPUT + NANO_PER_OUTPUT
  const { prompt_tokens: prompt, completion_tokens: said, total_tokens: total = 0 } = counted
  const completion = Math.max(said, total - prompt)
  return BigInt(prompt) * NANO_PER_INPUT + BigInt(completion) * NANO_PER_OUTPUT
}

/** Only what was read of texts has a price. */
function owedForVectors({ said: hasSaid, counted }: Truth): bigint {
  return hasSaid ? BigInt(counted?.prompt_tokens || 1) * NANO_PER_INPUT : 0n
}
