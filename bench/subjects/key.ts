import { BRAND } from '../../layers/gateway/contract.ts'
import { parseCredits } from '../../layers/gateway/domain/money.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/new-key.ts'
import { draftKey } from '../../operator/connect/issue-key.ts'

const NO_LIMITS = { rpm: 600_000, dailyLimit: 100_000_000, maxConcurrent: 1_000 }

/** For a key that no limit refuses. */
export function keyOptions() {
  const settings = { ...KEY_DEFAULTS, ...NO_LIMITS, name: 'bench' }
  return { settings, credits: parseCredits('1000000') ?? 0n, prefix: BRAND.keyPrefix, by: 'bench' }
}

/** That key, saved nowhere yet, and its secret. */
export function benchKey() {
  return draftKey(keyOptions(), Date.now())
}
