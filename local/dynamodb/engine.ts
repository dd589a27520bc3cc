import { hash } from 'node:crypto'
import { DynamoDbError, type Reason, validationError } from './failures.ts'
import { checkIndexKeys, keyIn, refuseTwice } from './keys.ts'
import { checkCount, type Input, type Members, refuseOthers, type WriteKind } from './members.ts'
import { batchGet, getItem, readPage } from './read.ts'
import { Storage } from './storage.ts'
import { executeOnTables } from './tables.ts'
import { openThrottle, type Throttle } from './throttle.ts'
import { attribute, type Item } from './values.ts'
import { outcomeOf, prepareWrite, returned, type Write } from './write.ts'

type EngineOptions = {
  /** The data outlives the process in it. */
  readonly file?: string | null
  readonly clock?: () => number
  /** The write units that an item takes a second; without it, any number. */
  readonly unitsASecond?: number | undefined
}

const OLD_ONLY = ['NONE', 'ALL_OLD']
const OLD_AND_NEW = [...OLD_ONLY, 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']

const CONFLICT: Reason = { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' }

type Attempt = { readonly reason?: Reason; readonly next?: Item | undefined }

/** Every command takes effect at once, and is kept from the next `commit` on. */
export class Engine {
  private readonly storage: Storage
  /** Places of uncommitted transactions, where commands meet conflicts ("Transaction conflict handling in DynamoDB"). */
  private readonly underWay = new Set<string>()
  private readonly clock: () => number
  private readonly throttle: Throttle | undefined

  constructor({ file = null, clock = Date.now, unitsASecond }: EngineOptions = {}) {
    this.storage = new Storage(file)
    this.clock = clock
    this.throttle = unitsASecond === undefined ? undefined : openThrottle(unitsASecond, clock)
  }

  /** Carries out a command in DynamoDB's JSON. Throws a DynamoDbError. */
  execute(operation: string, input: Members): Members {
    const { storage } = this
    if (operation === 'UpdateItem') return this.write('Update', input, OLD_AND_NEW)
    if (operation === 'GetItem') return getItem(storage, input)
    if (operation === 'PutItem') return this.write('Put', input, OLD_ONLY)
    if (operation === 'DeleteItem') return this.write('Delete', input, OLD_ONLY)
    if (operation === 'TransactWriteItems') return this.transact(input)
    if (operation === 'Query' || operation === 'Scan') return readPage(storage, operation, input)
    if (operation === 'BatchGetItem') return batchGet(storage, input)
    return executeOnTables(storage, operation, input)
  }

  /** The writes so far are on the disk, if there is a file, and none conflicts any more. */
  commit(): void {
    this.storage.commit()
    this.underWay.clear()
  }

  close(): void {
    this.commit()
    this.storage.close()
  }

  expire(): void {
    const nowMs = this.clock()
    for (const table of this.storage.tables.values()) {
      const { timeToLive = '' } = table.schema
      const expired = [...table.own.entries.range()].filter((item) => {
        const agoMs = nowMs - Number(attribute(item, timeToLive)?.N) * 1000
        // "TTL does not delete items whose time is more than five years in the past."
        return agoMs >= 0 && agoMs < 5 * 366 * 86_400_000
      })
      for (const item of expired) this.storage.replace(table, keyIn(table.schema, item), item, undefined)
    }
    this.storage.forgetDone(nowMs)
  }

  private write(kind: WriteKind, input: Input, allowed: readonly string[]): Members {
    const { ReturnValues = 'NONE' } = input
    if (!allowed.includes(ReturnValues)) throw validationError('Return values set to invalid value')
    const write = prepareWrite(this.storage, kind, input)
    const { reason, next } = this.attempt(write)
    if (reason) throw new DynamoDbError(`${reason.Code}Exception`, reason.Message ?? '', { Item: reason.Item })
    this.storage.replace(write.table, write.key, write.old, next)
    const Attributes = returned(write, next, ReturnValues)
    return Attributes ? { Attributes } : {}
  }

  private transact(input: Input): Members {
    refuseOthers('TransactWrite', input)
    const { TransactItems: items = [], ClientRequestToken: token } = input
    checkCount('TransactWriteItems', items)
    const writes = items.map(onlyWriteOf).map(([kind, given]) => prepareWrite(this.storage, kind, given))
    const places = writes.map(({ place }) => place)
    refuseTwice(places, 'One request cannot include multiple operations on one item')
    const done = [token ?? '', hash('sha256', JSON.stringify(items)), this.clock()] as const
    if (token !== undefined && this.storage.isDone(...done)) return {}
    const attempts = writes.map((write) => this.attemptInTransaction(write))
    if (attempts.some(({ reason }) => reason)) {
      const CancellationReasons = attempts.map(({ reason }) => reason ?? { Code: 'None' })
      throw new DynamoDbError('TransactionCanceledException', 'Transaction cancelled', { CancellationReasons })
    }
    writes.forEach(({ kind, table, key, place, old }, i) => {
      if (kind !== 'ConditionCheck') this.storage.replace(table, key, old, attempts[i]?.next)
      this.underWay.add(place)
    })
    if (token !== undefined) this.storage.addDone(...done)
    return {}
  }

  /** In AWS a fault in one item's data is that item's reason. (DynamoDB Local refuses the whole request.) */
  private attemptInTransaction(write: Write): Attempt {
    try {
      return this.attempt(write, 2)
    } catch (error) {
      if (!(error instanceof DynamoDbError && error.name === 'ValidationException')) throw error
      return { reason: { Code: 'ValidationError', Message: error.message } }
    }
  }

  /** A write in a transaction takes its units twice. */
  private attempt(write: Write, times = 1): Attempt {
    const { kind, table, place, given, old, bound, showsOld } = write
    // A fault in an item to put is reported before its condition is checked.
    if (kind === 'Put') checkIndexKeys(table.schema, given)
    const tooMany = this.throttle?.(place, old, times)
    if (tooMany) return { reason: tooMany }
    if (this.underWay.has(place)) return { reason: CONFLICT }
    if (bound.condition && !bound.condition.holds(old ?? {}, bound.values)) {
      const shown = showsOld && old ? { Item: old } : {}
      return { reason: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', ...shown } }
    }
    return { next: outcomeOf(write) }
  }
}

function onlyWriteOf(item: Partial<Record<WriteKind, Input>>): [WriteKind, Input] {
  const [kind, ...others] = (['Put', 'Update', 'Delete', 'ConditionCheck'] as const).filter((name) => item[name])
  if (!kind || others.length > 0)
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  return [kind, item[kind] as Input]
}
