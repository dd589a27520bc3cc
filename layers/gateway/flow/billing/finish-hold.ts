import { ulidTimeMs } from '../../domain/basics/time.ts'
import { accountIdOf, type Key, type OpenHold } from '../../domain/keys/key.ts'
import { laneIn } from '../../domain/keys/lane.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { UsageRow } from '../../domain/rows/usage-row.ts'
import type { Log } from '../../platform/log/log.ts'
import { attempter } from '../../platform/retry.ts'
import type { ReleaseHold } from '../../store/admission/release-hold.ts'
import type { PutUsageRow } from '../../store/rows/usage-rows.ts'

type Books = { readonly putUsageRow: PutUsageRow; readonly releaseHold: ReleaseHold }

export type FinishHold = (key: Key, dead: OpenHold) => Promise<UsageRow>

/** Settles a request that died: by its row if it had written one, else as abandoned and free. */
export function holdFinisher({ putUsageRow, releaseHold }: Books): FinishHold {
  return async (key, { requestId, ...hold }) => {
    const row = await putUsageRow(abandonedRow(key, requestId, hold.amount))
    await releaseHold({ address: key.address, requestId, hold, cost: row.cost, loss: row.loss })
    return row
  }
}

/** None is begun after `untilMs`. */
export type FinishDeadHolds = (key: Key, dead: readonly OpenHold[], untilMs: number) => Promise<void>

/** Settles the dead holds that a request met. A failure here must not fail that request. */
export function deadHoldsFinisher(finishHold: FinishHold, clock: () => number, log: Log): FinishDeadHolds {
  const attempt = attempter(log)
  return async (key, dead, untilMs) => {
    for (const hold of dead) {
      if (clock() >= untilMs) return
      const finish = () => finishHold(key, hold)
      await attempt('a dead request could not be finished; the next sweep will', finish, hold.requestId)
    }
  }
}

/** A dead request leaves only its hold, the most that a provider may bill. Its start is in its id. */
function abandonedRow(key: Key, requestId: string, hold: Nano): UsageRow {
  const accountId = accountIdOf(key)
  return {
    requestId,
    keyId: key.id,
    ...(accountId !== undefined && { accountId }),
    lane: laneIn(key.address) || undefined,
    endpoint: 'unknown',
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
    hold,
    ...(hold > 0n && { loss: hold }),
    attempts: [],
    durationMs: 0,
  }
}
