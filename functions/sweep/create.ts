import { expiredHolds } from '../../layers/gateway/domain/key.ts'
import { findKeysToSweep, scheduleSweep } from '../../layers/gateway/store/admission/sweep.ts'
import { moveEvents } from '../../layers/gateway/store/events/pending-events.ts'
import { readKey } from '../../layers/gateway/store/keys/read-key.ts'
import type { Instance } from '../instance.ts'
import { sideBySide } from '../side-by-side.ts'
import { type Context, timeLeft } from '../time-left.ts'

const FORGED = 'a key’s item has events that no operator can have left there; see SECURITY.md'

/**
 * Moves the events that are still on their keys' items, and settles the requests that died. A run ends when its time does;
 * the next one finds the keys that it has left.
 */
export function createSweep({ tables, clock, finishHold, log }: Instance) {
  const read = readKey(tables)
  const schedule = scheduleSweep(tables)
  const move = moveEvents(tables, reportForged)

  return async (_event?: unknown, context?: Context): Promise<{ finished: number }> => {
    const timeLeftMs = timeLeft(context)
    const hasTime = () => timeLeftMs() > 0
    let finished = 0
    await sideBySide(findKeysToSweep(tables)(clock()), hasTime, async ({ keyId, hasEvents }) => {
      if (hasEvents) {
        await attempt('an event could not be moved; the next sweep will', '-', () => move(keyId, clock()))
      }
      await attempt('a key could not be swept; the next sweep will', '-', () =>
        sweepKey(keyId, hasTime, () => {
          finished += 1
        }),
      )
    })
    log.swept(finished)
    return { finished }
  }

  async function sweepKey(keyId: string, hasTime: () => boolean, countFinished: () => void): Promise<void> {
    const key = await read(keyId)
    const dead = key ? expiredHolds(key, clock()) : []
    for (const hold of dead) {
      // The key stays where the next sweep finds it.
      if (!hasTime()) return
      await attempt('a dead request could not be finished; the next sweep will', hold.requestId, async () => {
        await finishHold(keyId, hold)
        countFinished()
      })
    }
    const left = dead.length > 0 ? await read(keyId) : key
    if (left) await schedule(left)
  }

  function reportForged(count: number): void {
    log.problem(FORGED, new Error(`${count} of them were left out.`), '-')
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
