import { HOUR_MS, ulid } from '../basics/time.ts'
import { formatCredits, type Nano } from '../money/money.ts'
import { ACCOUNT_PREFIX, heldOf, type Key, type Purse, type Versioned } from './key.ts'
import type { KeySettings } from './key-settings.ts'

/** The settings of an account that operators choose. Those of its limits are its keys' own. */
export type AccountSettings = Pick<KeySettings, 'name' | 'externalId' | 'note' | 'notifyBelow' | 'plan'> & {
  readonly contactName?: string | undefined
  readonly contactEmail?: string | undefined
  /** The keys of the account are not told its balance. */
  readonly hidesBalance?: boolean | undefined
  /** The keys of the account may read its statements. */
  readonly showsStatements?: boolean | undefined
}

export const ACCOUNT_SETTINGS = [
  'name',
  'externalId',
  'contactName',
  'contactEmail',
  'note',
  'notifyBelow',
  'plan',
  'hidesBalance',
  'showsStatements',
] as const satisfies readonly (keyof AccountSettings)[]

export type AccountChanges = { readonly [Name in keyof AccountSettings]?: AccountSettings[Name] | null }

/** The credits of a purse as its account knows them: all that it was ever given, and all that ever came back and was counted. */
type Mark = { readonly out: Nano; readonly seen: Nano }

/** A customer: one balance for all of its keys. A closed account has the status `revoked`. */
export type Account = AccountSettings &
  Versioned & {
    /** The version with which its status, or its plan, changed last. Its keys know the one that they were told. */
    readonly statusVersion: number
    readonly granted: Nano
    /** The pool: the credits that lie in no purse. */
    readonly available: Nano
    /** All that purses were ever given, and all that those which are gone have spent. */
    readonly drawn: Nano
    readonly retired: Nano
    /** The marks of each purse, under the address of its item. */
    readonly marks: Readonly<Record<string, Mark>>
    /** The last time that it was proven to have no more than this. */
    readonly dry?: { readonly atMs: number; readonly granted: Nano; readonly most: Nano } | undefined
  }

export type PurseKey = Key & { readonly purse: Purse }

/** The keys of an account that are not revoked, and their further lanes: all purses are read at once. */
export const MOST_KEYS = 100

export const hasRoomFor = ({ marks }: Account, purses: number): boolean =>
  Object.keys(marks).length + purses <= MOST_KEYS

export function newAccount(settings: AccountSettings, credits: Nano, nowMs: number, random: Uint8Array): Account {
  return {
    ...settings,
    id: `${ACCOUNT_PREFIX}${ulid(nowMs, random)}`,
    status: 'active',
    createdAtMs: nowMs,
    version: 1,
    statusVersion: 1,
    granted: credits,
    available: credits,
    drawn: 0n,
    retired: 0n,
    marks: {},
  }
}

/** The purse of a new key: it has nothing yet, and is suspended if its account is. */
export function joining(account: Account): Pick<Key, 'status' | 'purse'> {
  const { id: accountId, statusVersion, status, plan } = account
  const isWithAccount = status === 'suspended' || undefined
  const purse = { accountId, drawn: 0n, heldEver: 0n, spentAtDraw: 0n, statusVersion, plan, isWithAccount }
  return { status: isWithAccount ? 'suspended' : 'active', purse }
}

// Credits move between the pool and purses in two writes, of which the second brings one mark up to the other. Each
// mark only rises, so anybody may make the second write, any number of times, and a crash loses nothing.

export const isPurse = (key: Key): key is PurseKey => key.purse !== undefined

/** All that ever left a purse for its pool. */
export const backOf = ({ purse, granted }: PurseKey): Nano => purse.drawn - granted

/** The credits that are under way from a pool to a purse, and back. */
export function inFlight({ marks }: Account, key: PurseKey): { readonly toPurse: Nano; readonly toPool: Nano } {
  const mark = marks[key.address]
  // A purse that is gone has nothing under way. One that was read later than its account may be ahead of it.
  const positive = (nano: Nano) => (nano > 0n ? nano : 0n)
  return {
    toPurse: positive((mark?.out ?? 0n) - key.purse.drawn),
    toPool: mark ? positive(backOf(key) - mark.seen) : 0n,
  }
}

export type Balance = { readonly granted: Nano; readonly available: Nano; readonly held: Nano; readonly spent: Nano }

export type AccountBalance = { readonly account: Account; readonly balance: Balance }

/** The credits of an account wherever they lie, or are under way. */
export function balanceOf({ granted, retired }: Account, purses: readonly PurseKey[]): Balance {
  const held = purses.reduce((sum, key) => sum + heldOf(key), 0n)
  const spent = purses.reduce((sum, key) => sum + key.spent, retired)
  return { granted, available: granted - held - spent, held, spent }
}

/**
 * The most that an account had when it was read, which was after the first reading of its purses and before the second.
 * The sum of all holds only rises, and so does the sum that settlements gave back; transfers change neither.
 */
export function mostAvailable({ granted, retired }: Account, first: readonly PurseKey[], second: readonly PurseKey[]) {
  const heldBefore = new Map(first.map(({ address, purse }) => [address, purse.heldEver]))
  return second.reduce((most, { address, purse, granted: given, available }) => {
    const givenBack = purse.heldEver - (given - available)
    return most + givenBack - (heldBefore.get(address) ?? 0n)
  }, granted - retired)
}

/**
 * The credits to draw: those that are missing, and a reserve for the next requests, as large as those that are open and
 * what was spent since the last draw. No purse gets more than its part of a half. A pool with little gives no reserve.
 */
export function amountToDraw({ available, marks }: Account, key: PurseKey, hold: Nano): Nano {
  const missing = hold - key.available
  const most = available / BigInt(2 * Math.max(1, Object.keys(marks).length))
  if (most < hold) return missing
  const used = heldOf(key) + key.spent - key.purse.spentAtDraw
  const wanted = used > hold ? used : hold
  const amount = missing + (wanted < most ? wanted : most)
  return amount < available ? amount : available
}

/** The credits to take back from other purses: from those that have most, for as few writes as it takes. */
export function recallsFor(purses: readonly PurseKey[], missing: Nano, forKey?: PurseKey): readonly [PurseKey, Nano][] {
  const others = purses.filter(({ address, available }) => address !== forKey?.address && available > 0n)
  const recalls: [PurseKey, Nano][] = []
  let left = missing
  for (const other of others.sort((a, b) => (a.available < b.available ? 1 : -1))) {
    if (left <= 0n) break
    const amount = other.available < left ? other.available : left
    recalls.push([other, amount])
    left -= amount
  }
  return recalls
}

const DRY_MS = 1_000

/** An account without credits is looked through once a second. A grant, or a clock that is apart, ends that. */
export function isKnownDry({ dry, granted }: Account, hold: Nano, nowMs: number): boolean {
  return (
    dry !== undefined && dry.granted === granted && dry.most < hold && nowMs >= dry.atMs && nowMs - dry.atMs < DRY_MS
  )
}

/** A purse that was not used for so long gives its credits back. */
export const IDLE_MS = HOUR_MS

export function accountFields({ status, ...account }: Account): Readonly<Record<string, unknown>> {
  const settings = ACCOUNT_SETTINGS.flatMap((name) => {
    const value = account[name]
    if (value === undefined) return []
    return [[name, typeof value === 'bigint' ? formatCredits(value) : value] as const]
  })
  return { status: status === 'revoked' ? 'closed' : status, ...Object.fromEntries(settings) }
}
