import { isoTime } from '../../gateway/domain/basics/time.ts'
import { expiredHolds, heldOf, isAccountId, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { SWEEP_EVERY_MINUTES } from '../../gateway/names.ts'
import type { GrantRecord } from '../../gateway/store/keys/grant-credits.ts'
import type { Finding } from './findings.ts'

/** The part of the grants that is missing; negative if there is more than was granted. */
export function missingFrom(key: Key): Nano {
  return key.granted - (key.available + heldOf(key) + key.spent)
}

/** Each lane is checked by itself: what one lacks another may have too much. */
export function checkBalance(key: Key): (Finding | false)[] {
  const missing = missingFrom(key)
  const where = key.lane ? `in the lane ${key.address} ` : ''
  const amount = missing > 0n ? `${formatCredits(missing)} is gone` : `${formatCredits(-missing)} is too much`
  return [
    missing !== 0n && {
      what: `${where}granted is not available + held + spent: ${amount}`,
      expected: key.granted,
      got: key.granted - missing,
      advice: 'Put it right on the key item when no request is under way.',
    },
    key.available < 0n && { what: `${where}available is below zero`, expected: 0n, got: key.available },
  ]
}

export function noteDeadHolds(key: Key, nowMs: number): Finding[] {
  return expiredHolds(key, nowMs).map(({ requestId, amount, untilMs }) => ({
    requestId,
    what: `dead request not swept yet: its hold of ${formatCredits(amount)} was to end by ${isoTime(untilMs)}`,
    advice: `The sweep, every ${SWEEP_EVERY_MINUTES} minutes, gives it back; if it stays, look at the log of the sweep function.`,
    note: true,
  }))
}

type Owner = Pick<Key, 'id' | 'granted' | 'purse'>

/**
 * Grants are only ever added, in the same write as `granted`: their sum lies between two readings of it, unless a grant
 * and its correction came between them, which another reading shows.
 */
export function checkGrants(before: Owner, after: Owner, grants: readonly GrantRecord[], missing: Nano): Finding[] {
  // The grants of a key that joined an account are part of the account's, and it has what it was given since.
  if (after.purse) return []
  const sum = grants.reduce((total, { credits }) => total + credits, 0n)
  const [least, most] =
    before.granted < after.granted ? [before.granted, after.granted] : [after.granted, before.granted]
  if (sum >= least && sum <= most) return []
  const item = isAccountId(after.id) ? 'account' : 'key'
  const advice =
    missing !== 0n && sum === after.granted - missing
      ? `available + held + spent is: granted itself was changed. Set it to ${formatCredits(sum)} on the ${item} item.`
      : `Grants are never changed or deleted: compare those of the ${item} with the payments for it.`
  return [{ what: 'granted is not the sum of the grants', expected: sum, got: after.granted, advice }]
}
