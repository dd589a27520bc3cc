import { hash } from 'node:crypto'
import { attribute, compareText, type Item } from './value.ts'

export type Key = { readonly partition: string; readonly sort: string }

export type Schema = { readonly partitionKey: string; readonly sortKey?: string | undefined }
type IndexSchema = Schema & { readonly name: string; readonly projection: 'all' | 'keys' }
export type TableSchema = Schema & {
  /** The attribute with the second since the epoch from which an item has expired. */
  readonly timeToLive?: string | undefined
  readonly indexes: readonly IndexSchema[]
}

/** `tie` orders items with the same sort key in an index. */
export type Entry = { readonly sort: string; readonly tie: string; item: Item }

export type Start = Key & Pick<Entry, 'tie'>

/** `order` is its place in a scan, which has no meaning, as in AWS. */
type Partition = { readonly order: string; readonly entries: Entry[] }

export type Sorted = {
  readonly schema: Schema
  readonly name?: string
  readonly projection: IndexSchema['projection']
  readonly partitions: Partitions
}

export class StoredTable {
  readonly name: string
  definition: TableSchema
  readonly own: Sorted
  readonly indexes: readonly Sorted[]

  constructor(name: string, definition: TableSchema) {
    this.name = name
    this.definition = definition
    this.own = { schema: definition, projection: 'all', partitions: new Partitions() }
    this.indexes = definition.indexes.map((index) => ({ ...index, schema: index, partitions: new Partitions() }))
  }

  get({ partition, sort }: Key): Item | undefined {
    const entries = this.own.partitions.get(partition)
    const entry = entries.length === 1 ? entries[0] : entries[placeOf(entries, sort, '')]
    return entry?.sort === sort ? entry.item : undefined
  }

  replace(key: Key, old: Item | undefined, next: Item | undefined): void {
    const { partitions } = this.own
    if (next) partitions.insert(key.partition, { sort: key.sort, tie: '', item: next })
    else if (old) partitions.remove(key.partition, key.sort, '')
    for (const index of this.indexes) reindex(index, key, old, next)
  }

  *items(): Iterable<Item> {
    for (const { entries } of this.own.partitions.all()) for (const { item } of entries) yield item
  }
}

class Partitions {
  private readonly byName = new Map<string, Partition>()
  /** In the order of a scan; made anew for the first scan after a change. */
  private scanned: Partition[] | undefined

  get(name: string): readonly Entry[] {
    return this.byName.get(name)?.entries ?? []
  }

  all(): Iterable<Partition> {
    return this.byName.values()
  }

  insert(name: string, entry: Entry): void {
    let found = this.byName.get(name)
    if (!found) {
      found = { order: orderOf(name), entries: [] }
      this.byName.set(name, found)
      this.scanned = undefined
    }
    insertEntry(found.entries, entry)
  }

  remove(name: string, sort: string, tie: string): void {
    const entries = this.byName.get(name)?.entries
    if (!entries) return
    entries.splice(placeOf(entries, sort, tie), 1)
    if (entries.length > 0) return
    this.byName.delete(name)
    this.scanned = undefined
  }

  *scan(after?: Start): Iterable<Entry> {
    this.scanned ??= [...this.byName.values()].sort((a, b) => (a.order < b.order ? -1 : 1))
    const order = after && orderOf(after.partition)
    const first = order === undefined ? 0 : firstIndex(this.scanned, (partition) => partition.order < order)
    for (const partition of this.scanned.slice(first)) {
      yield* partition.entries.slice(after && partition.order === order ? placeAfter(partition.entries, after) : 0)
    }
  }
}

function orderOf(partition: string): string {
  return hash('sha256', partition)
}

/** Negative for a sort key before a range, zero for one in it, positive for one after it. */
export type RangeSide = (sort: string) => number

/** Walked one by one, since a page may end long before the range does. */
export function* entriesIn(all: readonly Entry[], side: RangeSide, start: Start | undefined, isForward: boolean) {
  let from = firstIndex(all, (entry) => side(entry.sort) < 0)
  let to = firstIndex(all, (entry) => side(entry.sort) <= 0)
  if (start && isForward) from = Math.max(from, placeAfter(all, start))
  if (start && !isForward) to = Math.min(to, placeOf(all, start.sort, start.tie))
  if (isForward) for (let i = from; i < to; i++) yield all[i] as Entry
  else for (let i = to - 1; i >= from; i--) yield all[i] as Entry
}

/** The index of the first entry that is not before this one. */
function placeOf(entries: readonly Entry[], sort: string, tie: string): number {
  return firstIndex(
    entries,
    (entry) => compareText(entry.sort, sort) < 0 || (entry.sort === sort && compareText(entry.tie, tie) < 0),
  )
}

function placeAfter(entries: readonly Entry[], { sort, tie }: Pick<Entry, 'sort' | 'tie'>): number {
  const at = placeOf(entries, sort, tie)
  const entry = entries[at]
  return entry?.sort === sort && entry.tie === tie ? at + 1 : at
}

/** The number of members at the start that are `before`, which must hold for these and for no later one. */
function firstIndex<T>(members: readonly T[], before: (member: T) => boolean): number {
  let [low, high] = [0, members.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(members[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

export function tieOf({ partition, sort }: Key): string {
  return `${partition}\0${sort}`
}

function reindex({ schema, partitions }: Sorted, key: Key, old: Item | undefined, next: Item | undefined): void {
  const [from, to] = [old && placeInIndex(schema, old), next && placeInIndex(schema, next)]
  const tie = tieOf(key)
  const stays = from && to && from.partition === to.partition && from.sort === to.sort
  if (from && !stays) partitions.remove(from.partition, from.sort, tie)
  if (to && next) partitions.insert(to.partition, { sort: to.sort, tie, item: next })
}

/** Undefined if the item lacks a key of the index: then it is not in it. */
function placeInIndex({ partitionKey, sortKey }: Schema, item: Item): Key | undefined {
  const partition = attribute(item, partitionKey)
  const sort = sortKey ? attribute(item, sortKey) : ''
  return typeof partition === 'string' && typeof sort === 'string' ? { partition, sort } : undefined
}

function insertEntry(entries: Entry[], entry: Entry): void {
  const last = entries.at(-1)
  if (last && compareText(last.sort, entry.sort) < 0) {
    entries.push(entry)
    return
  }
  const at = placeOf(entries, entry.sort, entry.tie)
  const there = entries[at]
  if (there?.sort === entry.sort && there.tie === entry.tie) there.item = entry.item
  else entries.splice(at, 0, entry)
}
