import type { Release } from '../domain/admission.ts'
import type { Hold, Key } from '../domain/key.ts'
import { ulidTimeMs } from '../domain/ulid.ts'
import type { UsageRow } from '../domain/usage-row.ts'

export type FinishHoldDeps = {
  readonly readKey: (keyId: string) => Promise<Key | undefined>
  readonly putUsageRow: (row: UsageRow) => Promise<UsageRow>
  readonly releaseHold: (release: Release) => Promise<boolean>
  readonly clock: () => number
}

export type FinishHold = (keyId: string, requestId: string) => Promise<void>

/** Ends a request that died: by its row if it had written one, else as abandoned and free. */
export function holdFinisher({ readKey, putUsageRow, releaseHold, clock }: FinishHoldDeps): FinishHold {
  return async (keyId, requestId) => {
    const hold = (await readKey(keyId))?.holds[requestId]
    if (!hold || hold.untilMs > clock()) return
    const row = await putUsageRow(abandonedRow(keyId, requestId, hold))
    await releaseHold({ keyId, requestId, hold: hold.amount, cost: row.cost })
  }
}

/** A dead request leaves no more than its hold. When it began is in its id. */
function abandonedRow(keyId: string, requestId: string, hold: Hold): UsageRow {
  return {
    requestId,
    keyId,
    endpoint: hold.amount > 0n ? 'chat.completions' : 'unknown',
    startedAtMs: ulidTimeMs(requestId),
    outcome: 'abandoned',
    httpStatus: 0,
    stream: false,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    usageSource: 'none',
    usageRejected: false,
    cost: 0n,
    hold: hold.amount,
    attempts: [],
    durationMs: 0,
  }
}
