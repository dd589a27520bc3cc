import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type Attributes, fromAttributes, toAttributes } from './attribute-values.ts'
import { type Done, TOKEN_KEPT_MS } from './done-transactions.ts'
import type { Engine, Journal } from './engine.ts'
import { StorageFailure } from './failures.ts'
import type { TableSchema } from './stored-table.ts'

/** The engine's data in a file. Committed changes survive the end of the process and of the machine. */
export type KeptData = Journal & Disposable & { restore(engine: Engine): void; commit(): void }

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

/** Throws if another process has the file open. */
export function openKeptData(file: string): KeptData {
  const database = new DatabaseSync(file)
  database.exec(LAYOUT)
  const put = database.prepare(`
    INSERT INTO items (tableName, partition, sort, item) VALUES (?, ?, ?, ?)
    ON CONFLICT (tableName, partition, sort) DO UPDATE SET item = excluded.item`)
  const remove = database.prepare('DELETE FROM items WHERE tableName = ? AND partition = ? AND sort = ?')
  const remember = database.prepare('INSERT OR REPLACE INTO transactions VALUES (?, ?, ?)')
  let isOpen = false

  /** Changes are collected in one transaction of the file until `commit`. */
  function change(statement: StatementSync, ...values: (string | number)[]): void {
    stored(() => {
      if (!isOpen) database.exec('BEGIN')
      isOpen = true
      statement.run(...values)
    })
  }

  return {
    change({ table, key: { partition, sort }, item }) {
      if (item) change(put, table, partition, sort, JSON.stringify(toAttributes(item)))
      else change(remove, table, partition, sort)
    },
    table(name, schema) {
      if (schema) change(database.prepare('INSERT OR REPLACE INTO tables VALUES (?, ?)'), name, JSON.stringify(schema))
      else {
        change(database.prepare('DELETE FROM tables WHERE name = ?'), name)
        change(database.prepare('DELETE FROM items WHERE tableName = ?'), name)
      }
    },
    done({ token, fingerprint, atMs }) {
      change(remember, token, fingerprint, atMs)
      change(database.prepare('DELETE FROM transactions WHERE atMs < ?'), atMs - TOKEN_KEPT_MS)
    },
    commit() {
      if (isOpen) stored(() => database.exec('COMMIT'))
      isOpen = false
    },
    restore: (engine) => restore(database, engine),
    [Symbol.dispose]: () => database.close(),
  }
}

function stored(act: () => void): void {
  try {
    act()
  } catch (error) {
    throw new StorageFailure((error as Error).message)
  }
}

function restore(database: DatabaseSync, engine: Engine): void {
  for (const { name, schema } of database.prepare('SELECT name, schema FROM tables').iterate()) {
    engine.addTable(String(name), JSON.parse(String(schema)) as TableSchema)
  }
  for (const { tableName, item } of database.prepare('SELECT tableName, item FROM items').iterate()) {
    engine.restore(String(tableName), fromAttributes(JSON.parse(String(item)) as Attributes))
  }
  for (const done of database.prepare('SELECT token, fingerprint, atMs FROM transactions ORDER BY atMs').iterate()) {
    engine.restoreDone(done as unknown as Done)
  }
}
