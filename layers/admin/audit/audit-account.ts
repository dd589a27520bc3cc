import { type Account, backOf, balanceOf, type PurseKey } from '../../gateway/domain/keys/account.ts'
import { isFirstLane } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import { transfers } from '../../gateway/store/accounts/transfers.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { listGrants } from '../../gateway/store/keys/grant-credits.ts'
import { flightOf, placesOf } from '../api/account-shape.ts'
import type { AccountAuditShape } from '../api/shapes/books.ts'
import { creditTexts } from '../usage/usage-numbers.ts'
import { checkGrants, missingFrom } from './check-balance.ts'
import { type Finding, Findings, type InFindings } from './findings.ts'

const REMEDY = 'Put it right on the item of the account, or of the pool of the key, when no request is under way.'

export async function auditAccount(tables: Tables, before: Account): Promise<InFindings<AccountAuditShape>> {
  const grants = await Array.fromAsync(listGrants(tables)(before.id))
  const { after, purses, missing, found } = await checkPool(tables, before)
  found.add(...checkGrants(before, after, grants, missing))
  return {
    object: 'account.audit',
    account_id: after.id,
    name: after.name,
    ...creditTexts({ ...balanceOf(after, purses), ...placesOf(after, purses, before), retired: after.retired }),
    keys: purses.filter(isFirstLane).length,
    balances: missing === 0n && after.available >= 0n,
    ok: found.wrong === 0,
    findings: found.kept,
    more_findings: found.omitted,
  }
}

/**
 * The account is read before its keys, and again after them: each mark only rises, so one that was read earlier is never
 * above one that was read later, however busy the keys are. Nothing is written: what is under way is completed by the sweep.
 */
export async function checkPool(tables: Tables, before: Account) {
  const { readAccount, readPurses } = transfers(tables)
  const purses = await readPurses(before)
  const after = (await readAccount(before.id)) ?? before
  const missing = missingOf(after)
  const found = new Findings()
  if (missing !== 0n) {
    const what =
      'granted is not the pool, what keys were given and have not returned, and what keys that are gone have spent'
    found.add({ what, expected: after.granted, got: after.granted - missing, advice: REMEDY })
  }
  found.add(after.available < 0n && { what: 'the pool is below zero', expected: 0n, got: after.available })
  for (const purse of purses) found.add(...checkPurse(before, purse, after))
  return { after, purses, missing, found }
}

/** All on one item, so it holds at every moment. */
function missingOf({ granted, available, retired, marks }: Account): Nano {
  return Object.values(marks).reduce((left, { out, seen }) => left - (out - seen), granted - available - retired)
}

function checkPurse(before: Account, key: PurseKey, after: Account): (Finding | false)[] {
  const { seen = 0n } = before.marks[key.address] ?? {}
  const { drawn } = key.purse
  // A key that has retired meanwhile was settled.
  const { out = drawn } = after.marks[key.address] ?? {}
  const [back, flight, own] = [backOf(key), flightOf(before, key, after), missingFrom(key)]
  const name = `the key ${key.address}`
  const taken = { what: `${name} has taken more than it was given`, expected: out, got: drawn, advice: REMEDY }
  const counted = { what: `more was counted back from ${name} than it returned`, expected: back, got: seen }
  const amount = own > 0n ? `${formatCredits(own)} less` : `${formatCredits(-own)} more`
  return [
    drawn > out && taken,
    seen > back && { ...counted, advice: REMEDY },
    own !== 0n && { what: `${name} has ${amount} than it was given, held and spent together` },
    flight > 0n && {
      what: `${formatCredits(flight)} is under way between the pool and ${name}`,
      advice: 'Nothing is lost: the next draw or the sweep completes it.',
      note: true,
    },
  ]
}
