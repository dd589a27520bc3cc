import { type Account, backOf, balanceOf, type PurseKey } from '../../gateway/domain/keys/account.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { transfers } from '../../gateway/store/accounts/transfers.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { listGrants } from '../../gateway/store/keys/grant-credits.ts'
import { flightOf, placesOf } from '../api/account-shape.ts'
import type { AccountAuditShape } from '../api/shapes/books.ts'
import { creditTexts } from '../usage/usage-numbers.ts'
import { checkGrants, missingFrom } from './check-balance.ts'
import { type Finding, Findings, type InFindings } from './findings.ts'

const REMEDY = 'Put it right on the item of the account when no request of its keys is under way.'

/**
 * The account is read before its keys, and again after them: each mark only rises, so one that was read earlier is never
 * above one that was read later, however busy the keys are. Nothing is written: what is under way is completed by the sweep.
 */
export async function auditAccount(tables: Tables, before: Account): Promise<InFindings<AccountAuditShape>> {
  const { readAccount, readPurses } = transfers(tables)
  const [purses, grants] = await Promise.all([readPurses(before), Array.fromAsync(listGrants(tables)(before.id))])
  const after = (await readAccount(before.id)) ?? before
  const missing = missingOf(after)
  const found = new Findings()
  if (missing !== 0n) {
    const what =
      'granted is not the pool, what keys were given and have not returned, and what keys that are gone have spent'
    found.add({ what, expected: after.granted, got: after.granted - missing, advice: REMEDY })
  }
  if (after.available < 0n) found.add({ what: 'the pool is below zero', expected: 0n, got: after.available })
  found.add(...checkGrants(before, after, grants, missing))
  for (const purse of purses) found.add(...checkPurse(before, purse, after))
  const places = placesOf(after, purses, before)
  return {
    object: 'account.audit',
    account_id: after.id,
    name: after.name,
    ...creditTexts({ ...balanceOf(after, purses), ...places, retired: after.retired }),
    keys: purses.length,
    balances: missing === 0n && after.available >= 0n,
    ok: found.wrong === 0,
    findings: found.kept,
    more_findings: found.omitted,
  }
}

/** All on one item, so it holds at every moment. */
function missingOf({ granted, available, retired, marks }: Account): Nano {
  return Object.values(marks).reduce((left, { out, seen }) => left - (out - seen), granted - available - retired)
}

function checkPurse(before: Account, key: PurseKey, after: Account): Finding[] {
  const { seen = 0n } = before.marks[key.id] ?? {}
  const { drawn } = key.purse
  // A key that has retired meanwhile was settled.
  const { out = drawn } = after.marks[key.id] ?? {}
  const [back, flight, own] = [backOf(key), flightOf(before, key, after), missingFrom(key)]
  const name = `the key ${key.id}`
  const taken = { what: `${name} has taken more than it was given`, expected: out, got: drawn, advice: REMEDY }
  const counted = { what: `more was counted back from ${name} than it returned`, expected: back, got: seen }
  const less = { what: `${name} has ${formatCredits(own)} less than it was given, held and spent together` }
  const underWay: Finding = {
    what: `${formatCredits(flight)} is under way between the pool and ${name}`,
    advice: 'Nothing is lost: the next draw or the sweep completes it.',
    note: true,
  }
  return [
    ...(drawn > out ? [taken] : []),
    ...(seen > back ? [{ ...counted, advice: REMEDY }] : []),
    ...(own !== 0n ? [less] : []),
    ...(flight > 0n ? [underWay] : []),
  ]
}
