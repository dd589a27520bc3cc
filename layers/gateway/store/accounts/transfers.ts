import {
  type Account,
  backOf,
  hasRoomFor,
  IDLE_MS,
  inFlight,
  isPurse,
  type PurseKey,
  recallsFor,
} from '../../domain/keys/account.ts'
import type { Nano } from '../../domain/money/money.ts'
import { isConditionFailed, retryRejected } from '../dynamodb/conditional-writes.ts'
import type { Item, Tables, UpdateInput } from '../dynamodb/database.ts'
import { accountItem, keyItem, SWEEP_AT_ONCE, sweepTime, toKey } from '../keys/key-item.ts'
import { readKeys } from '../keys/newest-keys.ts'
import { readOne } from '../keys/rotating-item.ts'
import { creditRefusalAttribute, toldAttribute } from '../notices/notices.ts'
import { ACCOUNT, dryText, outMark, seenMark, toAccount } from './account-item.ts'

/**
 * Credits move in two writes. The first one takes them out and raises its own mark; the second brings them in and raises
 * the other mark to the first. A mark that is not as it was read means that somebody else has made the second write. All
 * of them are plain writes of one item: a transaction would be cancelled by the requests of a busy key. The first write
 * may land twice, if its answer was lost, and then moves more: the marks know of both.
 */
export type Transfers = ReturnType<typeof transfers>

type Write = Omit<UpdateInput, 'TableName' | 'Key' | 'ReturnValues' | 'ReturnValuesOnConditionCheckFailure'>

export function transfers(tables: Tables) {
  const { database, keys: TableName } = tables
  const readAccount = readOne(tables, ACCOUNT)
  return {
    readAccount,
    readPurses,
    draw,
    takeIn,
    giveBack,
    countBack,
    complete,
    recall,
    gather,
    makeRoom,
    noteDry,
    schedule,
  }

  async function readPurses({ marks }: Account): Promise<readonly PurseKey[]> {
    return (await readKeys(tables, Object.keys(marks))).filter(isPurse)
  }

  /** From the pool, if it has so much. The account as it is then. */
  async function draw({ id, notifyBelow, available }: Account, address: string, amount: Nano, nowMs: number) {
    // The balance may be low when the pool is.
    const isWatched = notifyBelow !== undefined && available - amount < notifyBelow
    const [made, item] = await write(accountItem(id), {
      // A purse that is gone has no mark.
      ConditionExpression: 'available >= :amount AND attribute_exists(#out)',
      UpdateExpression: `SET available = available - :amount, drawn = drawn + :amount, #out = #out + :amount, sweepAt = ${isWatched ? ':sweepAt' : 'if_not_exists(sweepAt, :sweepAt)'}`,
      ExpressionAttributeNames: { '#out': outMark(address) },
      ExpressionAttributeValues: { ':amount': amount, ':sweepAt': sweepTime(isWatched ? nowMs : nowMs + IDLE_MS) },
    })
    return { isDrawn: made, account: item && toAccount(item) }
  }

  /** Into the purse, all that the pool has ever given out to it. */
  async function takeIn({ address, purse }: PurseKey, { marks }: Account): Promise<void> {
    const out = marks[address]?.out ?? 0n
    if (out <= purse.drawn) return
    await write(keyItem(address), {
      ConditionExpression: 'drawn = :drawn',
      UpdateExpression:
        'SET available = available + :amount, granted = granted + :amount, drawn = :out, spentAtDraw = spent',
      ExpressionAttributeValues: { ':drawn': purse.drawn, ':out': out, ':amount': out - purse.drawn },
    })
  }

  /** Out of the purse, if it has so much. The purse as it is then. */
  async function giveBack({ address }: PurseKey, amount: Nano): Promise<PurseKey | undefined> {
    const [made, item] = await write(keyItem(address), {
      ConditionExpression: 'available >= :amount AND attribute_exists(accountId)',
      UpdateExpression: 'SET available = available - :amount, granted = granted - :amount',
      ExpressionAttributeValues: { ':amount': amount },
    })
    return made && item ? (toKey(item) as PurseKey) : undefined
  }

  /** Into the pool, all that has ever left the purse. */
  async function countBack({ id, marks }: Account, purse: PurseKey): Promise<void> {
    const [seen, back] = [marks[purse.address]?.seen, backOf(purse)]
    if (seen === undefined || back <= seen) return
    await write(accountItem(id), {
      ConditionExpression: '#seen = :seen',
      UpdateExpression: 'SET available = available + :amount, #seen = :back',
      ExpressionAttributeNames: { '#seen': seenMark(purse.address) },
      ExpressionAttributeValues: { ':seen': seen, ':back': back, ':amount': back - seen },
    })
  }

  /** Makes the second write of transfers that were cut off. */
  async function complete(account: Account, purses: readonly PurseKey[]): Promise<void> {
    for (const purse of purses) {
      const { toPurse, toPool } = inFlight(account, purse)
      if (toPurse > 0n) await takeIn(purse, account)
      if (toPool > 0n) await countBack(account, purse)
    }
  }

  /** Brings as much as is missing back from other purses to the pool, if they have it. */
  async function recall(account: Account, purses: readonly PurseKey[], missing: Nano, forKey?: PurseKey) {
    await complete(account, purses)
    for (const [purse, amount] of recallsFor(purses, missing, forKey)) {
      const after = await giveBack(purse, amount)
      if (after) await countBack(account, after)
    }
  }

  /** Brings all of these purses' credits back to the pool. True if there is more to be done, or to be looked at. */
  async function gather(account: Account, purses: readonly PurseKey[]): Promise<boolean> {
    let hasMoved = false
    for (const purse of purses) {
      const after = purse.available > 0n ? await giveBack(purse, purse.available) : undefined
      if (after) await countBack(account, after)
      const isRetired = await retire(account, purse)
      hasMoved ||= purse.available > 0n || isRetired
    }
    return hasMoved
  }

  /** An account without room for so many purses gets that of its revoked keys. The account as it is then. */
  async function makeRoom(full: Account, wanted = 1): Promise<Account> {
    let account = full
    // A purse that has credits can go in the second pass, when they have come back.
    for (let pass = 1; pass <= 2 && !hasRoomFor(account, wanted); pass++) {
      const revoked = (await readPurses(account)).filter(({ status }) => status === 'revoked')
      await gather(account, revoked)
      account = (await readAccount(account.id)) ?? account
    }
    return account
  }

  /** A revoked purse without credits and without open requests has only spent, and is not looked at any more. */
  async function retire({ id, marks }: Account, purse: PurseKey): Promise<boolean> {
    const mark = marks[purse.address]
    const isEmpty = purse.available === 0n && Object.keys(purse.holds).length === 0
    const isSettled = mark && mark.out === purse.purse.drawn && mark.seen === backOf(purse)
    if (!isSettled || !isEmpty || purse.status !== 'revoked') return false
    const [isRetired] = await write(accountItem(id), {
      ConditionExpression: '#out = :out AND #seen = :seen',
      UpdateExpression: 'SET retired = retired + :spent, keyCount = keyCount - :one REMOVE #out, #seen',
      ExpressionAttributeNames: { '#out': outMark(purse.address), '#seen': seenMark(purse.address) },
      ExpressionAttributeValues: { ':out': mark.out, ':seen': mark.seen, ':spent': mark.out - mark.seen, ':one': 1 },
    })
    return isRetired
  }

  /** It was proven that the account has no more. The sweep tells its operator so. */
  async function noteDry({ id, granted }: Account, most: Nano, nowMs: number): Promise<void> {
    await write(accountItem(id), {
      ConditionExpression: 'attribute_exists(pk)',
      UpdateExpression: 'SET dry = :dry, #refused = :granted, sweepAt = :atOnce',
      ExpressionAttributeNames: { '#refused': creditRefusalAttribute('credit_balance_exhausted') },
      ExpressionAttributeValues: {
        ':dry': dryText({ atMs: nowMs, granted, most }),
        ':granted': String(granted),
        ':atOnce': SWEEP_AT_ONCE,
      },
    })
  }

  /** Sets the time of the next look, or none, unless something has happened meanwhile or is to be told. */
  async function schedule(
    { id, drawn, granted, version, dry }: Account,
    sweepAtMs: number | undefined,
    isLow: boolean,
  ): Promise<void> {
    // A balance that was low is told again when it has been above its level.
    const removed = [...(sweepAtMs === undefined ? ['sweepAt'] : []), ...(isLow ? [] : ['#told'])]
    await write(accountItem(id), {
      ConditionExpression: `drawn = :drawn AND granted = :granted AND version = :version AND ${dry ? 'dry = :dry' : 'attribute_not_exists(dry)'} AND attribute_not_exists(notices)`,
      UpdateExpression: `${sweepAtMs === undefined ? '' : 'SET sweepAt = :sweepAt'}${removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''}`,
      ...(!isLow && { ExpressionAttributeNames: { '#told': toldAttribute('account.balance_low') } }),
      ExpressionAttributeValues: {
        ':drawn': drawn,
        ':granted': granted,
        ':version': version,
        ...(dry && { ':dry': dryText(dry) }),
        ...(sweepAtMs !== undefined && { ':sweepAt': sweepTime(sweepAtMs) }),
      },
    })
  }

  /** True if it was made; the item as it is then. */
  async function write(Key: Item, update: Write): Promise<readonly [boolean, Item | undefined]> {
    try {
      const input = { TableName, Key, ...update, ReturnValues: 'ALL_NEW' } as const
      const { Attributes } = await retryRejected(() =>
        database.update({ ...input, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
      )
      return [true, Attributes]
    } catch (error) {
      if (isConditionFailed(error)) return [false, error.Item]
      throw error
    }
  }
}
