import type { Key } from '../../gateway/domain/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money.ts'
import type { GrantRecord } from '../../gateway/store/keys/list-grants.ts'
import { missingFrom } from './check-balance.ts'
import type { Finding } from './findings.ts'

const MOST_NAMED = 10

/** Grants are only ever added, in the same write as `granted`: their sum lies between two readings of it. */
export function checkGrants(before: Key, after: Key, grants: readonly GrantRecord[]): Finding[] {
  const sum = sumOf(grants)
  if (sum >= before.granted && sum <= after.granted) return []
  const finding = { what: 'granted is not the sum of the grants', expected: sum, got: after.granted }
  if (isGrantedWrong(after, grants)) {
    const advice = `available + held + spent is: granted itself was changed. Set it to ${formatCredits(sum)} on the key item.`
    return [{ ...finding, advice }]
  }
  return [finding, ...nameGrants(grants, sum - after.granted)]
}

/** The grants are all somewhere on the key: only its `granted` says something else. */
export function isGrantedWrong(key: Key, grants: readonly GrantRecord[]): boolean {
  const missing = missingFrom(key)
  return missing !== 0n && sumOf(grants) === key.granted - missing
}

function sumOf(grants: readonly GrantRecord[]): Nano {
  return grants.reduce((sum, { credits }) => sum + credits, 0n)
}

/** The grants that are exactly the difference; without any, each may be the changed one. */
function nameGrants(grants: readonly GrantRecord[], off: Nano): Finding[] {
  if (grants.length === 0) return [{ what: 'no grant is recorded: a grant item was deleted' }]
  const exact = grants.filter(({ credits }) => credits === off)
  if (exact.length > 0) return name(exact, 'is exactly the difference: recorded, but not added to the key?')
  const deleted = off < 0n ? ', or another deleted' : ''
  return name(grants, grants.length === 1 ? `was changed${deleted}?` : `or another of this key was changed${deleted}?`)
}

function name(grants: readonly GrantRecord[], suspicion: string): Finding[] {
  const rest = grants.length - MOST_NAMED
  return [
    ...grants.slice(-MOST_NAMED).map(({ id, credits, by, grantedAt }) => ({
      grantId: id,
      what: `the grant of ${formatCredits(credits)} by ${by} at ${grantedAt} ${suspicion}`,
      advice: 'Grants are never changed: compare it with what was paid for.',
    })),
    ...(rest > 0 ? [{ what: `the same may be so of ${rest} older grants` }] : []),
  ]
}
