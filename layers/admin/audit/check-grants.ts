import type { Key } from '../../gateway/domain/key.ts'
import { formatCredits } from '../../gateway/domain/money.ts'
import type { GrantRecord } from '../../gateway/store/keys/grant-credits.ts'
import { missingFrom } from './check-balance.ts'
import type { Finding } from './findings.ts'

/** Grants are only ever added, in the same write as `granted`: their sum lies between two readings of it. */
export function checkGrants(before: Key, after: Key, grants: readonly GrantRecord[]): Finding[] {
  const sum = grants.reduce((total, { credits }) => total + credits, 0n)
  if (sum >= before.granted && sum <= after.granted) return []
  const missing = missingFrom(after)
  const advice =
    missing !== 0n && sum === after.granted - missing
      ? `available + held + spent is: granted itself was changed. Set it to ${formatCredits(sum)} on the key item.`
      : 'Grants are never changed or deleted: compare those of the key with the payments for it.'
  return [{ what: 'granted is not the sum of the grants', expected: sum, got: after.granted, advice }]
}
