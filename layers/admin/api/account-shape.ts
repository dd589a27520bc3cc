import { sumOf } from '../../gateway/domain/admission/deal.ts'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import { type Account, balanceOf, inFlight, isPurse, type PurseKey } from '../../gateway/domain/keys/account.ts'
import { heldOf, isFirstLane, type Key } from '../../gateway/domain/keys/key.ts'
import { formatCredits, type Nano } from '../../gateway/domain/money/money.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { readKeys } from '../../gateway/store/keys/newest-keys.ts'
import { toldAccountSettings } from '../settings/key-settings.ts'
import { creditTexts } from '../usage/usage-numbers.ts'
import { weekCosts } from '../usage/usage-reader.ts'
import type { Call } from './call.ts'
import { balanceBadges, statusOf, timeOrNull } from './key-shape.ts'
import type { AccountDetail, AccountShape, AccountStatus } from './shapes/accounts.ts'

/** An account with the keys that have credits of it, lane by lane, and what they were charged in the last week. */
export type Pursed = { readonly account: Account; readonly purses: readonly PurseKey[]; readonly weekCost: Nano }

export async function readPurses(
  tables: Tables,
  accounts: readonly Account[],
  costs: ReadonlyMap<string, Nano>,
  known: readonly Key[] = [],
): Promise<Pursed[]> {
  const areKnown = new Set(known.map(({ address }) => address))
  const addresses = accounts.flatMap(({ marks }) => Object.keys(marks)).filter((address) => !areKnown.has(address))
  const purses = [...known, ...(await readKeys(tables, addresses))].filter(isPurse)
  const byAccount = Map.groupBy(purses, ({ purse }) => purse.accountId)
  return accounts.map((account) => {
    // A key without marks is gone, and the account knows by itself how much it spent.
    const purses = (byAccount.get(account.id) ?? []).filter(({ address }) => account.marks[address])
    return {
      account,
      purses,
      weekCost: purses.filter(isFirstLane).reduce((sum, { id }) => sum + (costs.get(id) ?? 0n), 0n),
    }
  })
}

export function accountStatus({ status }: Account): AccountStatus {
  return status === 'revoked' ? 'closed' : status
}

export function accountShape({ account, purses, weekCost }: Pursed): AccountShape {
  const balance = balanceOf(account, purses)
  const status = accountStatus(account)
  return {
    object: 'account',
    id: account.id,
    ...toldAccountSettings(account),
    hides_balance: account.hidesBalance === true,
    shows_statements: account.showsStatements === true,
    status,
    ...creditTexts({ ...balance, ...placesOf(account, purses) }),
    key_count: liveOf(purses).filter(isFirstLane).length,
    created_at: isoTime(account.createdAtMs),
    version: account.version,
    badges: status === 'active' ? balanceBadges(balance.available, weekCost) : [],
  }
}

export function placesOf(account: Account, purses: readonly PurseKey[], before = account) {
  const sum = (of: (purse: PurseKey) => Nano) => purses.reduce((total, purse) => total + of(purse), 0n)
  return {
    in_pool: account.available,
    in_flight: sum((purse) => flightOf(before, purse, account)),
    in_keys: sum(({ available }) => available),
  }
}

/** The credits that have left one side and not come to the other, read in the order in which they move. */
export function flightOf(before: Account, purse: PurseKey, after: Account): Nano {
  return inFlight(before, purse).toPurse + inFlight(after, purse).toPool
}

const liveOf = (purses: readonly PurseKey[]) => purses.filter(({ status }) => status !== 'revoked')

/** A change that was made must not end in an error of further reads: then the account is shown without the badge 'low'. */
export async function accountDetail({ tables, nowMs }: Call, account: Account): Promise<AccountDetail> {
  const costs = await weekCosts(tables, nowMs).catch(() => new Map<string, Nano>())
  const [pursed = { account, purses: [], weekCost: 0n }] = await readPurses(tables, [account], costs)
  return {
    ...accountShape(pursed),
    week_cost: formatCredits(pursed.weekCost),
    keys: [...Map.groupBy(liveOf(pursed.purses), ({ id }) => id).values()]
      .map((lanes) => sumOf(lanes, nowMs))
      .toSorted((a, b) => b.createdAtMs - a.createdAtMs)
      .map((key) => ({
        id: key.id,
        name: key.name,
        status: statusOf(key, nowMs),
        last_four: key.current.lastFour,
        ...creditTexts({ available: key.available, held: heldOf(key), spent: key.spent }),
        last_used_at: timeOrNull(key.lastUsedAtMs),
      })),
  }
}
