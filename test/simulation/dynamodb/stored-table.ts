import type { IndexDefinition, TableDefinition } from '../../../layers/gateway/contract.ts'
import { validationError } from './failures.ts'
import { attribute, compareText, type Item, type Value } from './value.ts'

export type Key = { readonly partition: string; readonly sort: string }

/** `tie` keeps items apart that have the same place in an index. */
export type Entry = { readonly sort: string; readonly tie: string; item: Item }

export type Schema = { readonly partitionKey: string; readonly sortKey?: string }

export type Partition = { readonly name: string; readonly hash: number; readonly entries: Entry[] }

export type Index = {
  readonly schema: Schema
  readonly name: string
  readonly projection: IndexDefinition['projection']
  readonly partitions: Map<string, Partition>
}

/** Partitions of sorted entries, and the same again for each index. */
export class StoredTable {
  readonly definition: TableDefinition
  readonly indexes: readonly Index[]
  private readonly partitions = new Map<string, Partition>()
  private ordered: readonly Partition[] | undefined

  constructor(definition: TableDefinition) {
    this.definition = definition
    this.indexes = definition.indexes.map((index) => ({ ...index, schema: index, partitions: new Map() }))
  }

  get({ partition, sort }: Key): Item | undefined {
    const entries = this.partitions.get(partition)?.entries
    if (!entries) return undefined
    const entry = entries.length === 1 ? entries[0] : entries[place(entries, sort, '')]
    return entry?.sort === sort ? entry.item : undefined
  }

  /** Puts the item in place of the one there was, or takes that one away. */
  replace(key: Key, old: Item | undefined, next: Item | undefined): void {
    if (next) this.insert(key, next)
    else if (old) this.remove(key)
    for (const index of this.indexes) reindex(index, key, old, next)
  }

  partition(name: string, index?: Index): readonly Entry[] {
    const partitions = index ? index.partitions : this.partitions
    return partitions.get(name)?.entries ?? []
  }

  *items(): Iterable<Item> {
    for (const { entries } of this.partitions.values()) for (const { item } of entries) yield item
  }

  /** All partitions in the order in which a scan comes by: that of a hash, and so of nothing that means anything. */
  scanned(): readonly Partition[] {
    this.ordered ??= [...this.partitions.values()].sort(scanOrder)
    return this.ordered
  }

  private insert({ partition, sort }: Key, item: Item): void {
    let found = this.partitions.get(partition)
    if (!found) {
      found = newPartition(partition)
      this.partitions.set(partition, found)
      this.ordered = undefined
    }
    insertEntry(found.entries, { sort, tie: '', item })
  }

  private remove({ partition, sort }: Key): void {
    if (removeEntry(this.partitions, partition, sort, '')) this.ordered = undefined
  }
}

export function scanOrder(a: Pick<Partition, 'hash' | 'name'>, b: Pick<Partition, 'hash' | 'name'>): number {
  return a.hash - b.hash || compareText(a.name, b.name)
}

export function newPartition(name: string): Partition {
  return { name, hash: hashOf(name), entries: [] }
}

/** The first place whose entry is not before this one. */
export function place(entries: readonly Entry[], sort: string, tie: string): number {
  return firstPlace(
    entries,
    (entry) => compareText(entry.sort, sort) < 0 || (entry.sort === sort && compareText(entry.tie, tie) < 0),
  )
}

/** How many entries at the start are `before`, which holds for a first part of them and no other. */
export function firstPlace(entries: readonly Entry[], before: (entry: Entry) => boolean): number {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(entries[middle] as Entry)) low = middle + 1
    else high = middle
  }
  return low
}

/** Refuses an item that an index could not hold. */
export function checkIndexKeys({ indexes }: TableDefinition, item: Item): void {
  for (const { name, partitionKey, sortKey } of indexes) {
    for (const key of [partitionKey, sortKey]) {
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

function reindex(index: Index, key: Key, old: Item | undefined, next: Item | undefined): void {
  const [from, to] = [old && placeInIndex(index.schema, old), next && placeInIndex(index.schema, next)]
  const tie = tieOf(key)
  const stays = from && to && from.partition === to.partition && from.sort === to.sort
  if (from && !stays) removeEntry(index.partitions, from.partition, from.sort, tie)
  if (!to || !next) return
  let found = index.partitions.get(to.partition)
  if (!found) {
    found = newPartition(to.partition)
    index.partitions.set(to.partition, found)
  }
  insertEntry(found.entries, { sort: to.sort, tie, item: next })
}

/** Undefined if the item lacks a key of the index: then it is not in it. */
function placeInIndex({ partitionKey, sortKey }: Schema, item: Item): Key | undefined {
  const [partition, sort]: (Value | undefined)[] = [attribute(item, partitionKey), attribute(item, sortKey ?? '')]
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
  if (there?.sort === entry.sort && there.tie === entry.tie) there.item = entry.item
  else entries.splice(at, 0, entry)
}

/** True if the partition ended with it. */
function removeEntry(partitions: Map<string, Partition>, partition: string, sort: string, tie: string): boolean {
  const entries = partitions.get(partition)?.entries
  if (!entries) return false
  entries.splice(place(entries, sort, tie), 1)
  return entries.length === 0 && partitions.delete(partition)
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
