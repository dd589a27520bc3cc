import { hash } from 'node:crypto'
import { toAttributes } from './attribute-values.ts'
import { batchGet, batchWrites, transactGets } from './batches.ts'
import {
  CONFLICT,
  conditionFailed,
  conditionReason,
  DynamoDbError,
  noSuchTable,
  type Reason,
  tableInUse,
  tokenReused,
  transactionCanceled,
  transactionConflict,
  unsupported,
  validationError,
} from './failures.ts'
import { keyIn, refuseOthers } from './keys.ts'
import { convertItems } from './members.ts'
import { type GetInput, getItem, type PageInput, type PageLimits, query, scan } from './read.ts'
import { type Key, StoredTable, type TableSchema } from './stored-table.ts'
import { describeTable, schemaOf } from './table-description.ts'
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

/** A command's members. Keys, items and values are as the engine has them; `bytes` bounds the size of what is given. */
export type Command = { readonly operation: string; readonly input: Input; readonly bytes: number }
export type Input = Readonly<Record<string, unknown>>
export type Output = Readonly<Record<string, unknown>>

/** An item that was written, or removed. */
export type Change = { readonly table: string; readonly key: Key; readonly item: Item | undefined }
/** A transaction that was carried out: asked for again by the same token, it is not carried out twice. */
export type Done = { readonly token: string; readonly fingerprint: string; readonly atMs: number }

export type EngineOptions = {
  readonly pages?: PageLimits
  readonly clock?: () => number
  /** Told of everything that changes, at once. */
  readonly journal?: Journal
  /**
   * Whether items are taken for being written until `settle` is called, so that what is asked meanwhile meets conflicts
   * as in AWS: by the Developer Guide, "Transaction conflict handling in DynamoDB".
   */
  readonly conflicts?: boolean
}

export type Journal = {
  table(name: string, schema: TableSchema | undefined): void
  change(change: Change): void
  done(done: Done): void
}

const NO_JOURNAL: Journal = { table() {}, change() {}, done() {} }
const PAGES: PageLimits = { items: Number.POSITIVE_INFINITY, bytes: 1024 * 1024 }
const TOKEN_KEPT_MS = 10 * 60_000

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues']
const CONDITIONAL = [
  ...['TableName', ...PLACEHOLDERS, 'ConditionExpression'],
  ...['ReturnValuesOnConditionCheckFailure', 'ReturnValues'],
]
const WRITE_MEMBERS = {
  Put: new Set([...CONDITIONAL, 'Item']),
  Update: new Set([...CONDITIONAL, 'Key', 'UpdateExpression']),
  Delete: new Set([...CONDITIONAL, 'Key']),
  ConditionCheck: new Set([...CONDITIONAL, 'Key']),
}
const GET_MEMBERS = new Set(['TableName', 'Key', 'ConsistentRead', 'ProjectionExpression', ...PLACEHOLDERS])
const PAGE_MEMBERS = [
  ...['TableName', 'IndexName', 'ConsistentRead', 'FilterExpression', 'ProjectionExpression', 'Select', 'Limit'],
  ...['ExclusiveStartKey', ...PLACEHOLDERS],
]
const SCAN_MEMBERS = new Set([...PAGE_MEMBERS, 'Segment', 'TotalSegments'])
const QUERY_MEMBERS = new Set([...PAGE_MEMBERS, 'KeyConditionExpression', 'ScanIndexForward'])
const TRANSACTION_MEMBERS = new Set(['TransactItems', 'ClientRequestToken'])
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
 * once. Items that are given or returned are the stored ones: nobody may change them.
 */
export class Engine {
  private readonly tables = new Map<string, StoredTable>()
  private readonly transactions = new Map<string, Done>()
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
        return query(this.table(input.TableName), input as PageInput, this.pages)
      case 'Scan':
        refuseOthers(input, SCAN_MEMBERS)
        return scan(this.table(input.TableName), input as PageInput, this.pages)
      case 'TransactGetItems':
        return { Responses: transactGets(input).map((get) => this.getUndisturbed(get)) }
      case 'BatchGetItem':
        return batchGet(input, (get) => this.get(get))
      case 'BatchWriteItem':
        return this.batchWrite(input, bytes)
      default:
        return this.administer(operation, input)
    }
  }

  /** What was written is kept for good: it is nobody's any more. */
  settle(): void {
    this.underWay.clear()
  }

  /** The stored items themselves, for looking only. */
  items(table: string): Iterable<Item> {
    return this.table(table).items()
  }

  item(table: string, key: Item): Item | undefined {
    const stored = this.table(table)
    return stored.get(keyIn(stored.definition, key))
  }

  addTable(name: string, schema: TableSchema): void {
    this.tables.set(name, new StoredTable(name, schema))
  }

  /** Puts an item where it was, before any command is carried out. */
  restore(table: string, item: Item): void {
    const stored = this.table(table)
    stored.replace(keyIn(stored.definition, item), undefined, item)
  }

  restoreDone(done: Done): void {
    this.transactions.set(done.token, done)
  }

  /** Removes the items whose time to live has passed. Returns how many. */
  expire(): number {
    const nowSeconds = this.clock() / 1000
    let removed = 0
    for (const table of this.tables.values()) {
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

  private table(name: unknown): StoredTable {
    const table = this.tables.get(String(name))
    if (!table) throw noSuchTable()
    return table
  }

  private administer(operation: string, input: Input): Output {
    const name = String(input.TableName)
    switch (operation) {
      case 'CreateTable':
        if (this.tables.has(name)) throw tableInUse(name)
        return { TableDescription: this.setTable(name, schemaOf(input)) }
      case 'DescribeTable':
        return { Table: describeTable(this.table(name)) }
      case 'ListTables':
        return { TableNames: [...this.tables.keys()].sort() }
      case 'DeleteTable': {
        const table = this.table(name)
        this.tables.delete(name)
        this.journal.table(name, undefined)
        return { TableDescription: describeTable(table) }
      }
      case 'DescribeTimeToLive': {
        const { timeToLive } = this.table(name).definition
        const isOn = timeToLive === undefined ? { TimeToLiveStatus: 'DISABLED' } : { TimeToLiveStatus: 'ENABLED' }
        return { TimeToLiveDescription: { ...isOn, ...(timeToLive && { AttributeName: timeToLive }) } }
      }
      case 'UpdateTimeToLive':
        return this.setTimeToLive(this.table(name), input)
    }
    if (!/^[A-Z]\w{1,60}$/.test(operation)) {
      throw new DynamoDbError('UnknownOperationException', 'X-Amz-Target names no operation')
    }
    throw unsupported(operation)
  }

  private setTable(name: string, schema: TableSchema): Output {
    this.addTable(name, schema)
    this.journal.table(name, schema)
    return describeTable(this.table(name))
  }

  private setTimeToLive(table: StoredTable, input: Input): Output {
    const { AttributeName, Enabled } = (input.TimeToLiveSpecification ?? {}) as Record<string, unknown>
    if (typeof AttributeName !== 'string' || typeof Enabled !== 'boolean') {
      throw validationError('TimeToLiveSpecification takes AttributeName and Enabled')
    }
    table.definition = { ...table.definition, timeToLive: Enabled ? AttributeName : undefined }
    this.journal.table(table.name, table.definition)
    return { TimeToLiveSpecification: { AttributeName, Enabled } }
  }

  private get(input: Input): { readonly Item?: Item } {
    refuseOthers(input, GET_MEMBERS)
    return getItem(this.table(input.TableName), input as GetInput)
  }

  private getUndisturbed(input: Input): { readonly Item?: Item } {
    const table = this.table(input.TableName)
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
    return prepareWrite(kind, this.table(input.TableName), input)
  }

  /** All or nothing. */
  private transact(input: Input, bytes: number): Output {
    refuseOthers(input, TRANSACTION_MEMBERS)
    const items = (input.TransactItems ?? []) as readonly TransactItem[]
    const writes = this.prepareAll(items)
    const token = input.ClientRequestToken as string | undefined
    const fingerprint = token === undefined ? '' : fingerprintOf(items)
    if (token !== undefined && this.wasDone(token, fingerprint)) return {}
    const tried = writes.map((write) => this.tryWrite(write, bytes))
    if (tried.some(({ reason }) => reason.Code !== 'None')) {
      throw transactionCanceled(tried.map(({ reason }) => reason))
    }
    writes.forEach(({ kind, table, key, old }, i) => {
      if (kind !== 'ConditionCheck') this.replace(table, key, old, tried[i]?.next, tried[i]?.bound)
      if (this.conflicts) this.underWay.set(placeOf(table, key), 'transaction')
    })
    if (token !== undefined) this.remember({ token, fingerprint, atMs: this.clock() })
    return {}
  }

  private wasDone(token: string, fingerprint: string): boolean {
    const done = this.transactions.get(token)
    if (!done || done.atMs < this.clock() - TOKEN_KEPT_MS) return false
    if (done.fingerprint !== fingerprint) throw tokenReused()
    return true
  }

  /** Tokens come and go in the order of their time. */
  private remember(done: Done): void {
    for (const [token, { atMs }] of this.transactions) {
      if (atMs >= done.atMs - TOKEN_KEPT_MS) break
      this.transactions.delete(token)
    }
    this.transactions.delete(done.token)
    this.transactions.set(done.token, done)
    this.journal.done(done)
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

  /** In AWS what is wrong with one item's data is that item's reason. (DynamoDB Local refuses the whole request.) */
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

/** Equal for equal requests only. */
function fingerprintOf(items: readonly TransactItem[]): string {
  return hash('sha256', JSON.stringify(items.map((item) => convertItems(item, toAttributes))))
}

function oldToShow({ showsOld, old }: Write): Item | undefined {
  return showsOld ? old : undefined
}

function placeOf({ name }: StoredTable, { partition, sort }: Key): string {
  return `${name}\0${partition}\0${sort}`
}
