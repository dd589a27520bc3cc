import { type Account, balanceOf, IDLE_MS, inFlight, type PurseKey } from '../../layers/gateway/domain/keys/account.ts'
import { ACT_MS, newAct, timeLeft } from '../../layers/gateway/domain/keys/act.ts'
import { isAccountId } from '../../layers/gateway/domain/keys/key.ts'
import { toAccount } from '../../layers/gateway/store/accounts/account-item.ts'
import { tellKeys } from '../../layers/gateway/store/accounts/change-account.ts'
import { transfers } from '../../layers/gateway/store/accounts/transfers.ts'
import { readNoticesOn, readWatched, type WatchedOwner } from '../../layers/gateway/store/notices/notices.ts'
import type { Instance } from '../instance.ts'
import type { noticeTeller } from './tell-notices.ts'

/** Completes what was cut off in an account, brings idle credits back to its pool, and tells its notices. */
export function accountTender({ tables, clock, random }: Instance, tell: ReturnType<typeof noticeTeller>) {
  const read = readNoticesOn(tables)
  const readFirst = readWatched(tables)
  const { readPurses, complete, gather, schedule } = transfers(tables)
  const tellStatus = tellKeys(tables, random)

  return async (id: string): Promise<void> => {
    const found = await read(id)
    if (!found) return
    const account = toAccount(found.item)
    const purses = await readPurses(account)
    const wasUntold = purses.some((purse) => isUntold(account, purse))
    if (wasUntold) {
      await tellStatus(account, newAct('sweep', clock(), random(10), timeLeft(ACT_MS, clock)))
    }
    await complete(account, purses)
    const isCutOff = purses.some((purse) => hasFlight(account, purse))
    const hasMoved = await gather(
      account,
      purses.filter((purse) => isIdle(purse, clock())),
    )
    const isLow = await tellBalance(account, purses, found.noticed)
    const isUsed = purses.some(
      (key) => key.status === 'revoked' || key.available > 0n || Object.keys(key.holds).length > 0,
    )
    const isWatched = account.notifyBelow !== undefined && account.available < account.notifyBelow && !isLow
    // A key that was told just now may have been revoked by that.
    const nextMs = wasUntold || isCutOff || hasMoved || isWatched ? clock() : isUsed ? clock() + IDLE_MS : undefined
    await schedule(account, nextMs, isLow)
  }

  /** True if the balance is low, which is told by now. */
  async function tellBalance(account: Account, purses: readonly PurseKey[], noticed: Omit<WatchedOwner, 'key'>) {
    const { granted, available, spent } = balanceOf(account, purses)
    // The pool of a key that is alone tells in its name, and keeps its notices where the key does.
    const first = isAccountId(account.id) ? undefined : await readFirst(account.id)
    if (!isAccountId(account.id) && !first) return false
    const key = { ...(first ? { ...first.key, purse: undefined } : account), granted, available, spent }
    const watched = { ...noticed, ...first, creditRefusal: noticed.creditRefusal, key, spentAtGrant: spent }
    await tell(watched, async () => {
      const again = first ? await readFirst(account.id) : (await read(account.id))?.noticed
      return again && { ...again, creditRefusal: noticed.creditRefusal, key, spentAtGrant: spent }
    })
    return granted - spent < (account.notifyBelow ?? 0n)
  }
}

function isUntold({ statusVersion, status: ofAccount }: Account, { purse, status }: PurseKey): boolean {
  return status !== 'revoked' && (purse.statusVersion < statusVersion || ofAccount === 'revoked')
}

/** A lane that takes no requests any more is idle at once. */
function isIdle({ status, lastUsedAtMs, createdAtMs, lane }: PurseKey, nowMs: number): boolean {
  return status === 'revoked' || lane?.isClosed || (lastUsedAtMs ?? createdAtMs) + IDLE_MS <= nowMs
}

function hasFlight(account: Account, purse: PurseKey): boolean {
  const { toPurse, toPool } = inFlight(account, purse)
  return toPurse + toPool > 0n
}
