import { expiredHolds } from '../../layers/gateway/domain/key.ts'
import { findKeysToSweep } from '../../layers/gateway/store/find-keys-to-sweep.ts'
import { readKey } from '../../layers/gateway/store/read-key.ts'
import { scheduleSweep } from '../../layers/gateway/store/schedule-sweep.ts'
import type { Instance } from '../instance.ts'

/** Finishes the requests that died, key by key. */
export function createSweep({ tables, clock, finishHold, log }: Instance) {
  const read = readKey(tables)
  const schedule = scheduleSweep(tables)

  return async (): Promise<{ finished: number }> => {
    let finished = 0
    for await (const keyId of findKeysToSweep(tables)(clock())) {
      try {
        finished += await sweepKey(keyId)
      } catch (error) {
        log.problem(`the dead requests of ${keyId} could not be finished; the next sweep will`, error, '-')
      }
    }
    log.swept(finished)
    return { finished }
  }

  async function sweepKey(keyId: string): Promise<number> {
    const key = await read(keyId)
    if (!key) return 0
    const dead = expiredHolds(key, clock())
    for (const hold of dead) await finishHold(keyId, hold)
    const left = dead.length > 0 ? await read(keyId) : key
    if (left) await schedule(left)
    return dead.length
  }
}
