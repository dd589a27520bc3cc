import { validationError } from './failures.ts'
import { attribute, compareText, type Item, type Value } from './value.ts'

export type Key = { readonly partition: string; readonly sort: string }

export type Schema = { readonly partitionKey: string; readonly sortKey?: string | undefined }
type IndexSchema = Schema & { readonly name: string; readonly projection: 'all' | 'keys' }
export type TableSchema = Schema & {
  /** The attribute with the second since the epoch from which an item has expired. */
  readonly timeToLive?: string | undefined
  readonly indexes: readonly IndexSchema[]
}

/** `tie` orders items with the same sort key in an index; `mostBytes` bounds the item's size. */
export type Entry = { readonly sort: string; readonly tie: string; item: Item; mostBytes: number }

export type Partition = { readonly name: string; readonly hash: number; readonly entries: Entry[] }

export type Index = {
  readonly schema: Schema
  readonly name: string
  readonly projection: IndexSchema['projection']
  readonly partitions: Partitions
}

/** Partitions of sorted entries, and the same again for each index. */
export class StoredTable {
  readonly name: string
  definition: TableSchema
  readonly indexes: readonly Index[]
  readonly partitions = new Partitions()

  constructor(name: string, definition: TableSchema) {
    this.name = name
    this.definition = definition
    this.indexes = definition.indexes.map((index) => ({ ...index, schema: index, partitions: new Partitions() }))
  }

  get(key: Key): Item | undefined {
    return this.entry(key)?.item
  }

  mostBytes(key: Key): number {
    return this.entry(key)?.mostBytes ?? 0
  }

  replace(key: Key, old: Item | undefined, next: Item | undefined, mostBytes = 0): void {
    if (next) this.partitions.insert(key.partition, { sort: key.sort, tie: '', item: next, mostBytes })
    else if (old) this.partitions.remove(key.partition, key.sort, '')
    for (const index of this.indexes) reindex(index, key, old, next)
  }

  partition(name: string, index?: Index): readonly Entry[] {
    return (index?.partitions ?? this.partitions).get(name)?.entries ?? []
  }

  *items(): Iterable<Item> {
    for (const { entries } of this.partitions.all()) for (const { item } of entries) yield item
  }

  private entry({ partition, sort }: Key): Entry | undefined {
    const entries = this.partitions.get(partition)?.entries
    if (!entries) return undefined
    const entry = entries.length === 1 ? entries[0] : entries[place(entries, sort, '')]
    return entry?.sort === sort ? entry : undefined
  }
}

const BUCKETS = 1_024

/** Partitions by name, and in the order of a scan, which is that of a hash and has no meaning. */
class Partitions {
  private readonly byName = new Map<string, Partition>()
  private readonly buckets = new Map<number, Bucket>()

  get(name: string): Partition | undefined {
    return this.byName.get(name)
  }

  all(): Iterable<Partition> {
    return this.byName.values()
  }

  insert(name: string, entry: Entry): void {
    let found = this.byName.get(name)
    if (!found) {
      found = newPartition(name)
      this.byName.set(name, found)
      const bucket = this.bucketOf(found.hash)
      bucket.partitions.push(found)
      bucket.isSorted = false
    }
    insertEntry(found.entries, entry)
  }

  remove(name: string, sort: string, tie: string): void {
    const found = this.byName.get(name)
    if (!found) return
    found.entries.splice(place(found.entries, sort, tie), 1)
    if (found.entries.length > 0) return
    this.byName.delete(name)
    const { partitions } = this.bucketOf(found.hash)
    partitions.splice(partitions.indexOf(found), 1)
  }

  /** The partitions from this one on, in the order of a scan. */
  *scanned(begin?: Partition): Iterable<Partition> {
    for (let at = begin ? bucketAt(begin.hash) : 0; at < BUCKETS; at++) {
      const bucket = this.buckets.get(at)
      if (!bucket) continue
      if (!bucket.isSorted) bucket.partitions.sort(scanOrder)
      bucket.isSorted = true
      for (const partition of bucket.partitions) {
        if (!begin || scanOrder(partition, begin) >= 0) yield partition
      }
    }
  }

  private bucketOf(hash: number): Bucket {
    const at = bucketAt(hash)
    const known = this.buckets.get(at)
    if (known) return known
    const fresh: Bucket = { partitions: [], isSorted: true }
    this.buckets.set(at, fresh)
    return fresh
  }
}

type Bucket = { readonly partitions: Partition[]; isSorted: boolean }

function bucketAt(hash: number): number {
  return hash >>> 22
}

export function scanOrder(a: Partition, b: Partition): number {
  return a.hash - b.hash || compareText(a.name, b.name)
}

export function newPartition(name: string): Partition {
  return { name, hash: hashOf(name), entries: [] }
}

/** The index of the first entry that is not before this one. */
export function place(entries: readonly Entry[], sort: string, tie: string): number {
  return firstIndex(
    entries,
    (entry) => compareText(entry.sort, sort) < 0 || (entry.sort === sort && compareText(entry.tie, tie) < 0),
  )
}

/** The number of entries at the start that are `before`, which must hold for these and for no later one. */
export function firstIndex(entries: readonly Entry[], before: (entry: Entry) => boolean): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(entries[middle] as Entry)) low = middle + 1
    else high = middle
  }
  return low
}

/** Refuses an item that an index could not hold. */
export function checkIndexKeys({ indexes }: TableSchema, item: Item): void {
  for (const { name, partitionKey, sortKey } of indexes) {
    for (const key of sortKey ? [partitionKey, sortKey] : [partitionKey]) {
      const value = attribute(item, key)
      if (value === undefined) continue
      if (typeof value !== 'string') throw validationError(`Type mismatch for Index Key ${key}, IndexName: ${name}`)
      if (value === '') throw validationError(`An index key cannot be an empty string: ${key}, IndexName: ${name}`)
    }
  }
}

export function tieOf({ partition, sort }: Key): string {
  return `${partition}\0${sort}`
}

function reindex({ schema, partitions }: Index, key: Key, old: Item | undefined, next: Item | undefined): void {
  const [from, to] = [old && placeInIndex(schema, old), next && placeInIndex(schema, next)]
  const tie = tieOf(key)
  const stays = from && to && from.partition === to.partition && from.sort === to.sort
  if (from && !stays) partitions.remove(from.partition, from.sort, tie)
  if (to && next) partitions.insert(to.partition, { sort: to.sort, tie, item: next, mostBytes: 0 })
}

/** Undefined if the item lacks a key of the index: then it is not in it. */
function placeInIndex({ partitionKey, sortKey }: Schema, item: Item): Key | undefined {
  const partition: Value | undefined = attribute(item, partitionKey)
  const sort: Value | undefined = sortKey ? attribute(item, sortKey) : ''
  return typeof partition === 'string' && typeof sort === 'string' ? { partition, sort } : undefined
}

function insertEntry(entries: Entry[], entry: Entry): void {
  const last = entries.at(-1)
  if (last && compareText(last.sort, entry.sort) < 0) {
    entries.push(entry)
    return
  }
  const at = place(entries, entry.sort, entry.tie)
  const there = entries[at]
  if (there?.sort === entry.sort && there.tie === entry.tie) {
    there.item = entry.item
    there.mostBytes = entry.mostBytes
  } else entries.splice(at, 0, entry)
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
