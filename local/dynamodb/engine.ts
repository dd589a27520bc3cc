import { batchGet, batchWrites, transactGets } from './batches.ts'
import { GET_MEMBERS, QUERY_MEMBERS, SCAN_MEMBERS, TRANSACTION_MEMBERS, WRITE_MEMBERS } from './command-members.ts'
import { DoneTransactions, fingerprintOf } from './done-transactions.ts'
import {
  CONFLICT,
  conditionFailed,
  conditionReason,
  DynamoDbError,
  type Reason,
  transactionCanceled,
  transactionConflict,
  validationError,
} from './failures.ts'
import { type Done, type Journal, NO_JOURNAL } from './journal.ts'
import { keyIn, refuseOthers } from './keys.ts'
import { type GetInput, getItem, type PageInput, type PageLimits, query, scan } from './read.ts'
import type { Key, StoredTable, TableSchema } from './stored-table.ts'
import { TableDirectory } from './table-directory.ts'
import type { Item } from './value.ts'
import {
  boundBytes,
  checkGiven,
  conditionHolds,
  outcomeOf,
  prepareWrite,
  returned,
  type Write,
  type WriteInput,
  type WriteKind,
} from './write.ts'

/** A command's members. Keys, items and values have the engine's form; `bytes` bounds the size of the command. */
export type Command = { readonly operation: string; readonly input: Input; readonly bytes: number }
export type Input = Readonly<Record<string, unknown>>
export type Output = Readonly<Record<string, unknown>>

export type EngineOptions = {
  readonly pages?: PageLimits
  readonly clock?: () => number
  /** Gets every change, at once. */
  readonly journal?: Journal
  /**
   * True if items count as being written until `settle` is called, so that commands meanwhile meet conflicts as in AWS:
   * by the Developer Guide, "Transaction conflict handling in DynamoDB".
   */
  readonly conflicts?: boolean
}

const PAGES: PageLimits = { items: Number.POSITIVE_INFINITY, bytes: 1024 * 1024 }
const WRITE_KINDS: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']
const TRANSACTION_ITEMS = 100
/** "TTL does not delete items whose time is more than five years in the past." */
const LONGEST_EXPIRED_SECONDS = 5 * 366 * 86_400

const OLD_ONLY = new Set(['NONE', 'ALL_OLD'])
const OLD_AND_NEW = new Set(['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'])

type TransactItem = Partial<Record<WriteKind, WriteInput>>
type ReturningInput = WriteInput & { readonly ReturnValues?: string | undefined }

/**
 * The tables of DynamoDB in this process, as far as Waybill and tools around it use them. Every command takes effect at
 * once. Items that are given or returned are the stored ones: no caller may change them.
 */
export class Engine {
  private readonly tables: TableDirectory
  private readonly transactions: DoneTransactions
  private readonly underWay = new Map<string, 'write' | 'transaction'>()
  private readonly pages: PageLimits
  private readonly clock: () => number
  private readonly journal: Journal
  private readonly conflicts: boolean

  constructor({ pages = PAGES, clock = Date.now, journal = NO_JOURNAL, conflicts = false }: EngineOptions = {}) {
    this.pages = pages
    this.clock = clock
    this.journal = journal
    this.conflicts = conflicts
    this.tables = new TableDirectory(journal)
    this.transactions = new DoneTransactions(journal)
  }

  /** Throws a DynamoDbError. */
  execute({ operation, input, bytes }: Command): Output {
    switch (operation) {
      case 'UpdateItem':
        return this.write('Update', input, OLD_AND_NEW, bytes)
      case 'GetItem':
        return this.get(input)
      case 'PutItem':
        return this.write('Put', input, OLD_ONLY, bytes)
      case 'DeleteItem':
        return this.write('Delete', input, OLD_ONLY, bytes)
      case 'TransactWriteItems':
        return this.transact(input, bytes)
      case 'Query':
        refuseOthers(input, QUERY_MEMBERS)
        return query(this.tables.get(input.TableName), input as PageInput, this.pages)
      case 'Scan':
        refuseOthers(input, SCAN_MEMBERS)
        return scan(this.tables.get(input.TableName), input as PageInput, this.pages)
      case 'TransactGetItems':
        return { Responses: transactGets(input).map((get) => this.getUndisturbed(get)) }
      case 'BatchGetItem':
        return batchGet(input, (get) => this.get(get))
      case 'BatchWriteItem':
        return this.batchWrite(input, bytes)
      default:
        return this.tables.execute(operation, input)
    }
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
    this.transactions.restore(done)
  }

  /** Removes the items whose time to live has passed. Returns their number. */
  expire(): number {
    const nowSeconds = this.clock() / 1000
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

  private get(input: Input): { readonly Item?: Item } {
    refuseOthers(input, GET_MEMBERS)
    return getItem(this.tables.get(input.TableName), input as GetInput)
  }

  private getUndisturbed(input: Input): { readonly Item?: Item } {
    const table = this.tables.get(input.TableName)
    const answer = this.get(input)
    if (this.underWay.has(placeOf(table, keyIn(table.definition, input.Key as Item)))) {
      throw transactionCanceled([CONFLICT])
    }
    return answer
  }

  private write(kind: WriteKind, input: ReturningInput, allowed: ReadonlySet<string>, bytes: number): Output {
    const { ReturnValues = 'NONE' } = input
    if (!allowed.has(ReturnValues)) throw validationError('Return values set to invalid value')
    const write = this.prepare(kind, input)
    checkGiven(write)
    if (this.isInTransaction(write)) throw transactionConflict()
    if (!conditionHolds(write)) throw conditionFailed(oldToShow(write))
    const next = outcomeOf(write)
    const bound = boundBytes(write, next, bytes)
    const Attributes = returned(write, next, ReturnValues)
    this.replace(write.table, write.key, write.old, next, bound)
    if (this.conflicts) this.underWay.set(placeOf(write.table, write.key), 'write')
    return Attributes ? { Attributes } : {}
  }

  private batchWrite(input: Input, bytes: number): Output {
    const writes = batchWrites(input)
    const prepared = writes.map(({ kind, write }) => this.prepare(kind, write))
    refuseTwice(prepared)
    prepared.forEach(checkGiven)
    for (const { kind, write } of writes) this.write(kind, write, OLD_ONLY, bytes)
    return { UnprocessedItems: {} }
  }

  private replace(table: StoredTable, key: Key, old: Item | undefined, next: Item | undefined, bound = 0): void {
    table.replace(key, old, next, bound)
    this.journal.change({ table: table.name, key, item: next })
  }

  private isInTransaction({ table, key }: Write): boolean {
    return this.underWay.size > 0 && this.underWay.get(placeOf(table, key)) === 'transaction'
  }

  private prepare(kind: WriteKind, input: WriteInput): Write {
    refuseOthers(input, WRITE_MEMBERS[kind])
    return prepareWrite(kind, this.tables.get(input.TableName), input)
  }

  /** All of the writes or none. */
  private transact(input: Input, bytes: number): Output {
    refuseOthers(input, TRANSACTION_MEMBERS)
    const items = (input.TransactItems ?? []) as readonly TransactItem[]
    const writes = this.prepareAll(items)
    const token = input.ClientRequestToken as string | undefined
    const done = token === undefined ? undefined : { token, fingerprint: fingerprintOf(items), atMs: this.clock() }
    if (done && this.transactions.has(done)) return {}
    const tried = writes.map((write) => this.tryWrite(write, bytes))
    if (tried.some(({ reason }) => reason.Code !== 'None')) {
      throw transactionCanceled(tried.map(({ reason }) => reason))
    }
    writes.forEach(({ kind, table, key, old }, i) => {
      if (kind !== 'ConditionCheck') this.replace(table, key, old, tried[i]?.next, tried[i]?.bound)
      if (this.conflicts) this.underWay.set(placeOf(table, key), 'transaction')
    })
    if (done) this.transactions.add(done)
    return {}
  }

  private prepareAll(items: readonly TransactItem[]): Write[] {
    if (items.length < 1 || items.length > TRANSACTION_ITEMS) throw validationError('transactItems: wrong length')
    const writes = items.map((item) => {
      const kinds = WRITE_KINDS.filter((kind) => item[kind])
      const [kind] = kinds
      if (!kind || kinds.length > 1)
        throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
      return this.prepare(kind, item[kind] as WriteInput)
    })
    refuseTwice(writes)
    return writes
  }

  /** In AWS a fault in one item's data is that item's reason. (DynamoDB Local refuses the whole request.) */
  private tryWrite(write: Write, bytes: number): Tried {
    try {
      checkGiven(write)
      if (this.isInTransaction(write)) return { reason: CONFLICT }
      if (!conditionHolds(write)) return { reason: conditionReason(oldToShow(write)) }
      const next = outcomeOf(write)
      return { reason: { Code: 'None' }, next, bound: boundBytes(write, next, bytes) }
    } catch (error) {
      if (!(error instanceof DynamoDbError && error.name === 'ValidationException')) throw error
      return { reason: { Code: 'ValidationError', Message: error.message } }
    }
  }
}

type Tried = { readonly reason: Reason; readonly next?: Item | undefined; readonly bound?: number }

function refuseTwice(writes: readonly Write[]): void {
  if (new Set(writes.map(({ table, key }) => placeOf(table, key))).size < writes.length) {
    throw validationError('One request cannot include multiple operations on one item')
  }
}

function oldToShow({ showsOld, old }: Write): Item | undefined {
  return showsOld ? old : undefined
}

function placeOf({ name }: StoredTable, { partition, sort }: Key): string {
  return `${name}\0${partition}\0${sort}`
}
