import { expiredHolds, isFirstLane } from '../../layers/gateway/domain/keys/key.ts'
import { attempter } from '../../layers/gateway/platform/retry.ts'
import {
  findAccountsToSweep,
  findKeysToSweep,
  findLanesToSweep,
  scheduleSweep,
} from '../../layers/gateway/store/admission/sweep.ts'
import { readCatalogHead } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { moveEvents } from '../../layers/gateway/store/events/pending-events.ts'
import { bringLanes } from '../../layers/gateway/store/keys/lanes.ts'
import { findRungClocks, stopClock } from '../../layers/gateway/store/notices/expiry-clock.ts'
import { readWatched, tellFirstLane } from '../../layers/gateway/store/notices/notices.ts'
import type { Instance } from '../instance.ts'
import { type Context, sideBySide, timeLeft } from '../scheduled-run.ts'
import { noticeTeller, type Tell } from './tell-notices.ts'
import { accountTender } from './tend-account.ts'

const FORGED = 'a key’s item has events that no operator can have left there; see SECURITY.md'

/** Moves events off their keys' items, settles requests that died, and tells notices. The next run goes on. */
export function createSweep(instance: Instance, tell?: Tell, by = 'webhook') {
  const { tables, clock, finishHold, log } = instance
  const read = readWatched(tables)
  const tellNotices = noticeTeller(instance, tell, by)
  const tend = accountTender(instance, tellNotices)
  const stop = stopClock(tables)
  const bring = bringLanes(tables)
  const tellFirst = tellFirstLane(tables)
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
    const each = <T>(what: string, all: AsyncIterable<T> | Iterable<T>, work: (one: T) => Promise<void>) =>
      sideBySide(all, hasTime, (one) => attempt(`${what}; the next sweep will`, () => work(one)))
    let finished = 0
    const countFinished = () => {
      finished += 1
    }
    const sweep = (address: string) => sweepKey(address, hasTime, countFinished)
    await each('a key could not be swept', findKeysToSweep(tables, clock()), async ({ keyId, hasEvents }) => {
      if (hasEvents) await attempt('an event could not be moved; the next sweep will', () => move(keyId, clock()))
      await sweep(keyId)
    })
    await each('a lane could not be swept', findLanesToSweep(tables, clock()), sweep)
    await each('an account could not be swept', findAccountsToSweep(tables, clock()), tend)
    await each('an expiry could not be told', tell ? findRungClocks(tables, clock()) : [], async (rung) => {
      const watched = await read(rung.keyId)
      if (watched) await tellNotices(watched, () => read(rung.keyId))
      await stop(rung)
    })
    log.swept(finished)
    return { finished }
  }

  async function sweepKey(address: string, hasTime: () => boolean, countFinished: () => void): Promise<void> {
    const found = await read(address)
    if (!found) return
    // An act that was cut off is brought to its end.
    if (found.key.lane && isFirstLane(found.key)) await bring(address, clock())
    const dead = expiredHolds(found.key, clock())
    for (const hold of dead) {
      // The key stays where the next sweep finds it.
      if (!hasTime()) return
      const finish = () => finishHold(found.key, hold).then(countFinished)
      await attempt('a dead request could not be finished; the next sweep will', finish, hold.requestId)
    }
    const left = dead.length > 0 ? await read(address) : found
    if (!left) return
    // Receivers that are away must not take the time of dead requests.
    if (untold >= 10) return
    let isTold = false
    await attempt('a notice could not be told; the next sweep will', async () => {
      if (isFirstLane(left.key)) await tellNotices(left, () => read(address))
      else await tellFirst(left.key, left)
      isTold = true
    })
    if (isTold) await schedule(left.key, clock())
    else untold += 1
  }
}
