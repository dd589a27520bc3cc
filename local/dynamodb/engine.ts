import { holds } from './condition.ts'
import { type Done, DoneTransactions, fingerprintOf } from './done-transactions.ts'
import { DynamoDbError, validationError } from './failures.ts'
import { checkIndexKeys, keyIn, placeInTables, refuseTwice } from './keys.ts'
import { checkCount, type Members, refuseOthers } from './members.ts'
import { batchGet, type GetInput, getItem, type PageInput, query, scan } from './read.ts'
import { CONFLICT, conditionFailed, type Reason, refusedFor, transactionCanceled } from './refused-writes.ts'
import type { Key, StoredTable, TableSchema } from './stored-table.ts'
import { TableDirectory } from './table-directory.ts'
import { openThrottle, type Throttle } from './throttle.ts'
import type { Item } from './value.ts'
import { outcomeOf, prepareWrite, returned, type Write, type WriteInput, type WriteKind } from './write.ts'

/** A command's members. Keys, items and values have the engine's form. */
type Command = { readonly operation: string; readonly input: Members }

/** Gets every change, at once. */
export type Journal = {
  table(name: string, schema: TableSchema | undefined): void
  change(change: { readonly table: string; readonly key: Key; readonly item: Item | undefined }): void
  done(done: Done): void
}

type EngineOptions = {
  /** The most that a page of a query or scan holds. */
  readonly pageBytes?: number
  readonly clock?: () => number
  readonly journal?: Journal
  /** The write units that an item takes a second; without it, any number. */
  readonly unitsASecond?: number
}

const PAGE_BYTES = 1024 * 1024
const NO_JOURNAL: Journal = { table() {}, change() {}, done() {} }
const WRITE_KINDS: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']
/** "TTL does not delete items whose time is more than five years in the past." */
const LONGEST_EXPIRED_SECONDS = 5 * 366 * 86_400

const OLD_ONLY = new Set(['NONE', 'ALL_OLD'])
const OLD_AND_NEW = new Set(['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'])

type TransactItem = Partial<Record<WriteKind, WriteInput>>
type ReturningInput = WriteInput & { readonly ReturnValues?: string | undefined }
type Attempt = { readonly reason: Reason } | { readonly next: Item | undefined }

/** Every command takes effect at once. Items that are given or returned are the stored ones: no caller may change them. */
export class Engine {
  private readonly tables: TableDirectory
  private readonly transactions = new DoneTransactions()
  /** Places of unsettled transactions, where commands meet conflicts ("Transaction conflict handling in DynamoDB"). */
  private readonly underWay = new Set<string>()
  private readonly options: Required<Omit<EngineOptions, 'unitsASecond'>>
  private readonly throttle: Throttle | undefined

  constructor(options: EngineOptions = {}) {
    this.options = { pageBytes: PAGE_BYTES, clock: Date.now, journal: NO_JOURNAL, ...options }
    const { unitsASecond } = options
    this.throttle = unitsASecond === undefined ? undefined : openThrottle(unitsASecond, this.options.clock)
    this.tables = new TableDirectory((name, schema) => this.options.journal.table(name, schema))
  }

  /** Throws a DynamoDbError. */
  execute({ operation, input }: Command): Members {
    if (operation === 'UpdateItem') return this.write('Update', input, OLD_AND_NEW)
    if (operation === 'GetItem') return getItem(this.tables, input as GetInput)
    if (operation === 'PutItem') return this.write('Put', input, OLD_ONLY)
    if (operation === 'DeleteItem') return this.write('Delete', input, OLD_ONLY)
    if (operation === 'TransactWriteItems') return this.transact(input)
    if (operation === 'Query') return query(this.tables, input as PageInput, this.options.pageBytes)
    if (operation === 'Scan') return scan(this.tables, input as PageInput, this.options.pageBytes)
    if (operation === 'BatchGetItem') return batchGet(this.tables, input)
    return this.tables.execute(operation, input)
  }

  /** The writes so far are finished: none conflicts any more. */
  settle(): void {
    this.underWay.clear()
  }

  /** The stored items themselves, for reading only. */
  items(table: string): Iterable<Item> {
    return this.tables.get(table).items()
  }

  item(table: string, key: Item): Item | undefined {
    const stored = this.tables.get(table)
    return stored.get(keyIn(stored.definition, key))
  }

  addTable(name: string, schema: TableSchema): void {
    this.tables.add(name, schema)
  }

  /** Puts a kept item back, before any command is carried out. */
  restore(table: string, item: Item): void {
    const stored = this.tables.get(table)
    stored.replace(keyIn(stored.definition, item), undefined, item)
  }

  restoreDone(done: Done): void {
    this.transactions.add(done)
  }

  /** Removes the items whose time to live has passed. Returns their number. */
  expire(): number {
    const nowSeconds = this.options.clock() / 1000
    let removed = 0
    for (const table of this.tables.all()) {
      const { timeToLive } = table.definition
      if (timeToLive === undefined) continue
      const expired = [...table.items()].filter(({ [timeToLive]: at }) => {
        return typeof at === 'number' && at <= nowSeconds && at > nowSeconds - LONGEST_EXPIRED_SECONDS
      })
      for (const item of expired) this.replace(table, keyIn(table.definition, item), item, undefined)
      removed += expired.length
    }
    return removed
  }

  private write(kind: WriteKind, input: ReturningInput, allowed: ReadonlySet<string>): Members {
    const { ReturnValues = 'NONE' } = input
    if (!allowed.has(ReturnValues)) throw validationError('Return values set to invalid value')
    const write = this.prepare(kind, input)
    const attempt = this.attempt(write)
    if ('reason' in attempt) throw refusedFor(attempt.reason)
    const { next } = attempt
    this.replace(write.table, write.key, write.old, next)
    const Attributes = returned(write, next, ReturnValues)
    return Attributes ? { Attributes } : {}
  }

  private transact(input: Members): Members {
    refuseOthers('TransactWrite', input)
    const items = (input.TransactItems ?? []) as readonly TransactItem[]
    checkCount('TransactWriteItems', items)
    const writes = items.map(onlyWriteOf).map(([kind, given]) => this.prepare(kind, given))
    const places = writes.map(({ table, key }) => placeInTables(table, key))
    refuseTwice(places, 'One request cannot include multiple operations on one item')
    const token = input.ClientRequestToken as string | undefined
    const done =
      token === undefined ? undefined : { token, fingerprint: fingerprintOf(items), atMs: this.options.clock() }
    if (done && this.transactions.has(done)) return {}
    const attempts = writes.map((write) => this.attemptInTransaction(write))
    if (attempts.some((attempt) => 'reason' in attempt)) {
      throw transactionCanceled(attempts.map((attempt) => ('reason' in attempt ? attempt.reason : { Code: 'None' })))
    }
    writes.forEach(({ kind, table, key, old }, i) => {
      const { next } = attempts[i] as Exclude<Attempt, { reason: Reason }>
      if (kind !== 'ConditionCheck') this.replace(table, key, old, next)
      this.underWay.add(placeInTables(table, key))
    })
    if (done) {
      this.transactions.add(done)
      this.options.journal.done(done)
    }
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
    const { kind, table, key, given, old, bound, showsOld } = write
    // A fault in an item to put is reported before its condition is checked.
    if (kind === 'Put') checkIndexKeys(table.definition, given)
    const tooMany = this.throttle?.(placeInTables(table, key), old, times)
    if (tooMany) return { reason: tooMany }
    if (this.underWay.size > 0 && this.underWay.has(placeInTables(table, key))) return { reason: CONFLICT }
    const isMet = !bound.condition || holds(bound.condition, old ?? {}, bound.values)
    if (!isMet) return { reason: conditionFailed(showsOld ? old : undefined) }
    return { next: outcomeOf(write) }
  }

  private prepare(kind: WriteKind, input: WriteInput): Write {
    refuseOthers(kind, input)
    return prepareWrite(kind, this.tables.get(input.TableName), input)
  }

  private replace(table: StoredTable, key: Key, old: Item | undefined, next: Item | undefined): void {
    table.replace(key, old, next)
    this.options.journal.change({ table: table.name, key, item: next })
  }
}

function onlyWriteOf(item: TransactItem): [WriteKind, WriteInput] {
  const [kind, ...others] = WRITE_KINDS.filter((name) => item[name])
  if (!kind || others.length > 0)
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  return [kind, item[kind] as WriteInput]
}
