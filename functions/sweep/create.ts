import { expiredHolds } from '../../layers/gateway/domain/keys/key.ts'
import { attempter } from '../../layers/gateway/platform/retry.ts'
import { findAccountsToSweep, findKeysToSweep, scheduleSweep } from '../../layers/gateway/store/admission/sweep.ts'
import { readCatalogHead } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { moveEvents } from '../../layers/gateway/store/events/pending-events.ts'
import { findRungClocks, stopClock } from '../../layers/gateway/store/notices/expiry-clock.ts'
import { readWatched } from '../../layers/gateway/store/notices/notices.ts'
import type { Instance } from '../instance.ts'
import { type Context, sideBySide, timeLeft } from '../scheduled-run.ts'
import { noticeTeller, type Tell } from './tell-notices.ts'
import { accountTender } from './tend-account.ts'

/** The keys in a run whose notices may fail to be told. */
const MOST_UNTOLD = 10

const FORGED = 'a key’s item has events that no operator can have left there; see SECURITY.md'

/** Moves events off their keys' items, settles requests that died, and tells notices. The next run goes on. */
export function createSweep(instance: Instance, tell?: Tell) {
  const { tables, clock, finishHold, log } = instance
  const read = readWatched(tables)
  const tellNotices = noticeTeller(instance, tell)
  const stop = stopClock(tables)
  let untold = 0
  const schedule = scheduleSweep(tables)
  const attempt = attempter(log)
  const move = moveEvents(tables, (count) => log.problem(FORGED, new Error(`${count} of them were left out.`), '-'))

  return async (_event?: unknown, context?: Context): Promise<{ finished: number }> => {
    const timeLeftMs = timeLeft(context)
    const hasTime = () => timeLeftMs() > 0
    // Tables of a newer schema are refused.
    await readCatalogHead(tables)()
    untold = 0
    let finished = 0
    await sideBySide(findKeysToSweep(tables, clock()), hasTime, async ({ keyId, hasEvents }) => {
      if (hasEvents) await attempt('an event could not be moved; the next sweep will', () => move(keyId, clock()))
      const countFinished = () => {
        finished += 1
      }
      const sweep = () => sweepKey(keyId, hasTime, countFinished)
      await attempt('a key could not be swept; the next sweep will', sweep)
    })
    const tend = accountTender(instance, tellNotices)
    await sideBySide(findAccountsToSweep(tables, clock()), hasTime, (id) =>
      attempt('an account could not be swept; the next sweep will', () => tend(id)),
    )
    const rung = tell ? findRungClocks(tables, clock()) : []
    await sideBySide(rung, hasTime, (one) =>
      attempt('an expiry could not be told; the next sweep will', async () => {
        const watched = await read(one.keyId)
        if (watched) await tellNotices(watched, () => read(one.keyId))
        await stop(one)
      }),
    )
    log.swept(finished)
    return { finished }
  }

  async function sweepKey(keyId: string, hasTime: () => boolean, countFinished: () => void): Promise<void> {
    const found = await read(keyId)
    if (!found) return
    const dead = expiredHolds(found.key, clock())
    for (const hold of dead) {
      // The key stays where the next sweep finds it.
      if (!hasTime()) return
      const finish = () => finishHold(found.key, hold).then(countFinished)
      await attempt('a dead request could not be finished; the next sweep will', finish, hold.requestId)
    }
    const left = dead.length > 0 ? await read(keyId) : found
    if (!left) return
    // Receivers that are away must not take the time of dead requests.
    if (untold < MOST_UNTOLD) {
      untold += 1
      await attempt('a notice could not be told; the next sweep will', async () => {
        await tellNotices(left, () => read(keyId))
        untold -= 1
      })
    }
    await schedule(left.key, clock())
  }
}
