import type { Key, TableSchema } from './stored-table.ts'
import type { Item } from './value.ts'

/** An item that was written, or removed. */
export type Change = { readonly table: string; readonly key: Key; readonly item: Item | undefined }
/** A transaction that was carried out: sent again with the same token, it is not carried out twice. */
export type Done = { readonly token: string; readonly fingerprint: string; readonly atMs: number }

/** Gets every change, at once. */
export type Journal = {
  table(name: string, schema: TableSchema | undefined): void
  change(change: Change): void
  done(done: Done): void
}

export const NO_JOURNAL: Journal = { table() {}, change() {}, done() {} }
