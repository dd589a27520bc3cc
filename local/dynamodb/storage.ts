import { DatabaseSync } from 'node:sqlite'
import { DynamoDbError } from './failures.ts'
import { AFTER, type IndexSchema, type Key, keyIn, placeInIndex, type Schema, type TableSchema } from './keys.ts'
import type { Item } from './values.ts'

/** A page is read from a table's own items, or from one of its indexes. */
type Source = { readonly schema: Schema; readonly name?: string; readonly entries: Sorted }
export type Table = {
  readonly name: string
  readonly schema: TableSchema
  readonly own: Source
  readonly indexes: readonly (Source & IndexSchema)[]
}

const MOST_IN_PART = 500

/** Items in the order of their places. */
class Sorted {
  private readonly items = new Map<string, Item>()
  /** Several, so that a change moves few; none is empty but an only one. */
  private readonly parts: string[][] = [[]]

  get(place: string): Item | undefined {
    return this.items.get(place)
  }

  set(place: string, item: Item): void {
    if (!this.items.has(place)) {
      const [i, part] = this.partOf(place)
      part.splice(countBefore(part, place), 0, place)
      if (part.length > MOST_IN_PART) this.parts.splice(i + 1, 0, part.splice(MOST_IN_PART / 2))
    }
    this.items.set(place, item)
  }

  delete(place: string): void {
    if (!this.items.delete(place)) return
    const [i, part] = this.partOf(place)
    part.splice(countBefore(part, place), 1)
    if (part.length === 0 && this.parts.length > 1) this.parts.splice(i, 1)
  }

  /** Those at `from` and before `to`, one by one, since a page may end long before the range does. */
  *range(from = '', to = AFTER, isForward = true): Iterable<Item> {
    const [first] = this.partOf(from)
    const [last] = this.partOf(to)
    for (let n = 0; n <= last - first; n++) {
      const part = this.parts[isForward ? first + n : last - n] as string[]
      const within = part.slice(countBefore(part, from), countBefore(part, to))
      for (const place of isForward ? within : within.reverse()) yield this.items.get(place) as Item
    }
  }

  /** The part that has a place, or would get it. */
  private partOf(place: string): [number, string[]] {
    const at = Math.max(0, countBefore(this.parts, `${place}\0`, ([first]) => first) - 1)
    return [at, this.parts[at] as string[]]
  }
}

function countBefore<T>(list: readonly T[], place: string, placeOf: (one: T) => unknown = String): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((placeOf(list[middle] as T) as string) < place) low = middle + 1
    else high = middle
  }
  return low
}

const LAYOUT = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY, schema TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS items (
    place INTEGER PRIMARY KEY, tableName TEXT NOT NULL, partition TEXT NOT NULL, sort TEXT NOT NULL, item TEXT NOT NULL,
    UNIQUE (tableName, partition, sort)
  );
  CREATE TABLE IF NOT EXISTS transactions (token TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, atMs INTEGER NOT NULL);
`

const PUT = `
  INSERT INTO items (tableName, partition, sort, item) VALUES (?, ?, ?, ?)
  ON CONFLICT (tableName, partition, sort) DO UPDATE SET item = excluded.item`
const REMOVE = 'DELETE FROM items WHERE tableName = ? AND partition = ? AND sort = ?'

/** "After 10 minutes, any request with the same client token is treated as a new request." */
const TOKEN_KEPT_MS = 10 * 60_000

/** Tables and their items, in memory, and in a file if there is one. Throws SQLite's error if that fails. */
export class Storage {
  readonly tables = new Map<string, Table>()
  private readonly tokens = new Map<string, { readonly fingerprint: unknown; readonly atMs: number }>()
  private readonly database: DatabaseSync | undefined
  private readonly prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>()

  /** Throws if another process has the file open. */
  constructor(file: string | null) {
    if (file === null) return
    const database = new DatabaseSync(file)
    database.exec(LAYOUT)
    for (const { name, schema } of database.prepare('SELECT * FROM tables').iterate()) {
      this.keep(String(name), JSON.parse(String(schema)) as TableSchema)
    }
    for (const { tableName, item } of database.prepare('SELECT * FROM items').iterate()) {
      const [table, kept] = [this.get(tableName), JSON.parse(String(item)) as Item]
      this.replace(table, keyIn(table.schema, kept), undefined, kept)
    }
    for (const { token, fingerprint, atMs } of database.prepare('SELECT * FROM transactions').iterate()) {
      this.tokens.set(String(token), { fingerprint, atMs: Number(atMs) })
    }
    // From here on, changes are written to it.
    this.database = database
  }

  get(name: unknown): Table {
    const table = this.tables.get(String(name))
    if (table) return table
    throw new DynamoDbError('ResourceNotFoundException', 'Cannot do operations on a non-existent table')
  }

  keep(name: string, schema: TableSchema): Table {
    this.change('INSERT OR REPLACE INTO tables VALUES (?, ?)', name, JSON.stringify(schema))
    const { own = { schema, entries: new Sorted() }, indexes } = this.tables.get(name) ?? {}
    const made = schema.indexes.map((index) => ({ ...index, schema: index, entries: new Sorted() }))
    const table = { name, schema, own, indexes: indexes ?? made }
    this.tables.set(name, table)
    return table
  }

  replace({ name, own, indexes }: Table, key: Key, old: Item | undefined, next: Item | undefined): void {
    if (next) own.entries.set(key.place, next)
    else own.entries.delete(key.place)
    for (const { schema, entries } of indexes) {
      const [from, to] = [placeInIndex(schema, old, key), placeInIndex(schema, next, key)]
      if (from !== undefined && from !== to) entries.delete(from)
      if (next && to !== undefined) entries.set(to, next)
    }
    if (!this.database) return
    if (next) this.change(PUT, name, key.partition, key.sort, JSON.stringify(next))
    else this.change(REMOVE, name, key.partition, key.sort)
  }

  /** True for a transaction of the last minutes that is sent again with its token: it is not carried out twice. */
  isDone(token: string, fingerprint: string, nowMs: number): boolean {
    const done = this.tokens.get(token)
    if (!done || done.atMs < nowMs - TOKEN_KEPT_MS) return false
    if (done.fingerprint === fingerprint) return true
    const message = 'The client token was used before, with other parameters'
    throw new DynamoDbError('IdempotentParameterMismatchException', message)
  }

  addDone(token: string, fingerprint: string, atMs: number): void {
    this.tokens.set(token, { fingerprint, atMs })
    this.change('INSERT OR REPLACE INTO transactions VALUES (?, ?, ?)', token, fingerprint, atMs)
  }

  forgetDone(nowMs: number): void {
    for (const [token, { atMs }] of this.tokens) if (atMs < nowMs - TOKEN_KEPT_MS) this.tokens.delete(token)
    this.change('DELETE FROM transactions WHERE atMs < ?', nowMs - TOKEN_KEPT_MS)
  }

  /** Changes are collected in one transaction of the file until `commit`. */
  private change(sql: string, ...values: (string | number)[]): void {
    const { database, prepared } = this
    if (!database) return
    if (!database.isTransaction) database.exec('BEGIN')
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    statement.run(...values)
  }

  commit(): void {
    if (this.database?.isOpen && this.database.isTransaction) this.database.exec('COMMIT')
  }

  close(): void {
    this.database?.close()
  }
}
