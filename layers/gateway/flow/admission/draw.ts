import {
  type Account,
  amountToDraw,
  inFlight,
  isKnownDry,
  mostAvailable,
  type PurseKey,
} from '../../domain/keys/account.ts'
import { expiredHolds } from '../../domain/keys/key.ts'
import type { Nano } from '../../domain/money/money.ts'
import type { Transfers } from '../../store/accounts/transfers.ts'
import type { FinishDeadHolds } from '../billing/finish-hold.ts'

/** The most credits that an account had at a moment of this request: fewer than were asked for. */
export type Shortage = { readonly account: Account; readonly most: Nano }

/**
 * Brings credits of the account to a purse that has too few for a hold: from the pool, then from its other purses.
 * Undefined if another try is worth it. A shortage is proven: all purses are read before the account and again after it,
 * so that no credits on their way from one to another are overlooked.
 */
export type Draw = (
  key: PurseKey,
  hold: Nano,
  request: { readonly nowMs: number; readonly deadlineMs: number },
) => Promise<Shortage | undefined>

export async function drawFromAccount(
  transfers: Transfers,
  finishDeadHolds: FinishDeadHolds,
  ...[key, hold, { nowMs, deadlineMs }]: Parameters<Draw>
): ReturnType<Draw> {
  const account = await transfers.readAccount(key.purse.accountId)
  // The mark of a purse goes after its key was revoked, which the next try finds.
  if (!account?.marks[key.address]) return undefined
  if (account.dry && isKnownDry(account, hold, nowMs)) return { account, most: account.dry.most }
  if (await drawInto(account, key)) return undefined
  const first = await transfers.readPurses(account)
  const own = first.find(({ address }) => address === key.address) ?? key
  if (own.available >= hold) return undefined
  await transfers.recall(account, first, hold - own.available, own)
  const then = await transfers.readAccount(account.id)
  if (!then || (await drawInto(then, own))) return undefined
  const second = await transfers.readPurses(then)
  const most = mostAvailable(then, first, second)
  if (most >= hold || (await finishDead(second))) return undefined
  await transfers.noteDry(then, most, nowMs)
  return { account: then, most }

  /** True if requests had died that held credits. */
  async function finishDead(purses: readonly PurseKey[]): Promise<boolean> {
    const withDead = purses.filter((purse) => expiredHolds(purse, nowMs).length > 0)
    for (const purse of withDead) await finishDeadHolds(purse, expiredHolds(purse, nowMs), deadlineMs)
    return withDead.length > 0
  }

  /** True if credits were brought, or are on their way already. */
  async function drawInto(from: Account, to: PurseKey): Promise<boolean> {
    if (inFlight(from, to).toPurse > 0n) {
      await transfers.takeIn(to, from)
      return true
    }
    const missing = hold - to.available
    if (from.available < missing) return false
    const { isDrawn, account: after } = await transfers.draw(from, to.address, amountToDraw(from, to, hold), nowMs)
    if (isDrawn && after) await transfers.takeIn(to, after)
    return isDrawn
  }
}
