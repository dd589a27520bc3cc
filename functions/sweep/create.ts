import { expiredHolds } from '../../layers/gateway/domain/key.ts'
import { findKeysToSweep, scheduleSweep } from '../../layers/gateway/store/admission/sweep.ts'
import { moveEvents } from '../../layers/gateway/store/events/pending-events.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import type { Instance } from '../instance.ts'

/** Moves the events that are still on their keys' items, and settles the requests that died, key by key. */
export function createSweep({ tables, clock, finishHold, log }: Instance) {
  const read = readKey(tables)
  const schedule = scheduleSweep(tables)
  const move = moveEvents(tables)

  return async (): Promise<{ finished: number }> => {
    let finished = 0
    for await (const { keyId, hasEvents } of findKeysToSweep(tables)(clock())) {
      if (hasEvents) {
        await attempt('an event could not be moved; the next sweep will', '-', () => move(keyId, clock()))
      }
      await attempt('a key could not be swept; the next sweep will', '-', async () => {
        const key = await read(keyId)
        const dead = key ? expiredHolds(key, clock()) : []
        for (const hold of dead) {
          await attempt('a dead request could not be finished; the next sweep will', hold.requestId, async () => {
            await finishHold(keyId, hold)
            finished += 1
          })
        }
        const left = dead.length > 0 ? await read(keyId) : key
        if (left) await schedule(left)
      })
    }
    log.swept(finished)
    return { finished }
  }

  /** One failure must not keep the rest from being done. */
  async function attempt(what: string, requestId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      log.problem(what, error, requestId)
    }
  }
}
