import type { Context } from './context.ts'
import { validationError } from './failures.ts'
import { itemBytes } from './item-bytes.ts'
import { type KeyRange, keyRange } from './key-range.ts'
import { keyNames, keyOnly, keyText } from './keys.ts'
import { bind, type Placeholders, type Program, programFor } from './program.ts'
import { projected } from './projection.ts'
import {
  type Entry,
  firstIndex,
  type Index,
  newPartition,
  place,
  type Schema,
  type StoredTable,
  scanOrder,
  tieOf,
} from './stored-table.ts'
import type { Item, Value } from './value.ts'

/** The most that a page of a query or scan holds. */
export type PageLimits = { readonly items: number; readonly bytes: number }

export type PageOutput = {
  readonly Items?: readonly Item[]
  readonly Count: number
  readonly ScannedCount: number
  readonly LastEvaluatedKey?: Item
}

export type GetInput = Placeholders & {
  readonly Key?: Item | undefined
  readonly ProjectionExpression?: string | undefined
}

export type PageInput = Placeholders & {
  readonly IndexName?: string | undefined
  readonly KeyConditionExpression?: string | undefined
  readonly FilterExpression?: string | undefined
  readonly ProjectionExpression?: string | undefined
  readonly ScanIndexForward?: boolean | undefined
  readonly ConsistentRead?: boolean | undefined
  readonly Limit?: number | undefined
  readonly ExclusiveStartKey?: Item | undefined
  readonly Select?: string | undefined
  readonly Segment?: number | undefined
  readonly TotalSegments?: number | undefined
}

export function getItem(table: StoredTable, input: GetInput): { readonly Item?: Item } {
  const program = programFor({ projection: input.ProjectionExpression })
  const context = bind(program, input)
  const item = table.get(keyOnly(table.definition, input.Key))
  return item ? { Item: shown(item, program, context) } : {}
}

export function query(table: StoredTable, input: PageInput, limits: PageLimits): PageOutput {
  const index = indexOf(table, input)
  checkSelect(input, index)
  const schema = index?.schema ?? table.definition
  const program = programOf(input)
  const context = bind(program, input)
  if (!program.keyCondition) throw validationError('Either the KeyConditions or KeyConditionExpression must be given')
  refuseKeysInFilter(program, schema, context)
  const range = keyRange(program.keyCondition, schema, context)
  const isForward = input.ScanIndexForward !== false
  const end = index ? undefined : isForward ? range.highest : range.lowest
  const names = [...new Set([...keyNames(schema), ...keyNames(table.definition)])]
  const start = input.ExclusiveStartKey && startOf(table, schema, names, input.ExclusiveStartKey)
  if (start) checkStart(start, range, end)
  const all = entriesIn(table.partition(range.partition, index), range, start, isForward)
  const entries = index?.projection === 'keys' ? keysOf(all, names) : all
  const page = pageOf(entries, input, program, context, limits)
  const isAtEnd = !schema.sortKey || (end !== undefined && page.last?.[schema.sortKey] === end)
  return isAtEnd ? page.output : withLastKey(page, names)
}

function indexOf(table: StoredTable, { IndexName, ConsistentRead }: PageInput): Index | undefined {
  if (IndexName === undefined) return undefined
  const index = table.indexes.find(({ name }) => name === IndexName)
  if (!index) throw validationError(`The table does not have the specified index: ${IndexName}`)
  if (ConsistentRead) throw validationError('Consistent reads are not supported on global secondary indexes')
  return index
}

function checkStart({ partition, sort }: Start, range: KeyRange, end: string | undefined): void {
  if (range.partition !== partition || range.isBefore(sort) || range.isAfter(sort) || sort === end) {
    throw validationError('The provided starting key does not match the range key predicate')
  }
}

export function scan(table: StoredTable, input: PageInput, limits: PageLimits): PageOutput {
  const index = indexOf(table, input)
  checkSelect(input, index)
  const schema = index?.schema ?? table.definition
  const program = programOf(input)
  const context = bind(program, input)
  const names = [...new Set([...keyNames(schema), ...keyNames(table.definition)])]
  const start = input.ExclusiveStartKey && startOf(table, schema, names, input.ExclusiveStartKey)
  const all = scanned(table, index, segmentOf(input), start)
  const items = index?.projection === 'keys' ? keysOf(all, [...names]) : all
  return withLastKey(pageOf(items, input, program, context, limits), names)
}

/** Refuses a Select that contradicts the rest. */
function checkSelect({ Select, ProjectionExpression }: PageInput, index: Index | undefined): void {
  if (Select === undefined) return
  const isSpecific = Select === 'SPECIFIC_ATTRIBUTES'
  const isRight =
    isSpecific === (ProjectionExpression !== undefined) &&
    (isSpecific ||
      Select === 'COUNT' ||
      (Select === 'ALL_ATTRIBUTES' && index?.projection !== 'keys') ||
      (Select === 'ALL_PROJECTED_ATTRIBUTES' && index !== undefined))
  if (!isRight) throw validationError(`Select type ${Select} is not supported for this request`)
}

type IsInSegment = (partition: { readonly hash: number }) => boolean

const MOST_SEGMENTS = 1_000_000

function segmentOf({ Segment, TotalSegments }: PageInput): IsInSegment {
  if (Segment === undefined && TotalSegments === undefined) return () => true
  const [segment, total] = [Segment ?? -1, TotalSegments ?? 0]
  if (segment < 0 || segment >= total || total > MOST_SEGMENTS) {
    throw validationError('The Segment parameter is zero-based and must be less than parameter TotalSegments')
  }
  return ({ hash }) => Math.floor((hash / 2 ** 32) * total) === segment
}

function programOf(input: PageInput): Program {
  return programFor({
    condition: input.FilterExpression,
    keyCondition: input.KeyConditionExpression,
    projection: input.ProjectionExpression,
  })
}

function refuseKeysInFilter(program: Program, schema: Schema, { names }: Context): void {
  const keys = keyNames(schema)
  for (const [first] of program.conditionPaths) {
    if (keys.includes(names[first as number] as string)) {
      throw validationError('Filter Expression can only contain non-primary key attributes')
    }
  }
}

type Start = { readonly partition: string; readonly sort: string; readonly tie: string }

function startOf(table: StoredTable, schema: Schema, names: readonly string[], item: Item): Start {
  if (Object.keys(item).length !== names.length) throw validationError('The provided starting key is invalid')
  const [partition, sort] = [keyText(item, schema.partitionKey), schema.sortKey ? keyText(item, schema.sortKey) : '']
  const { partitionKey, sortKey } = table.definition
  const own = { partition: keyText(item, partitionKey), sort: sortKey ? keyText(item, sortKey) : '' }
  return { partition, sort, tie: schema === table.definition ? '' : tieOf(own) }
}

/** Walked one by one, since a page may end long before the range does. */
function* entriesIn(all: readonly Entry[], range: KeyRange, start: Start | undefined, isForward: boolean) {
  let from = firstIndex(all, (entry) => range.isBefore(entry.sort))
  let to = firstIndex(all, (entry) => !range.isAfter(entry.sort))
  if (start && isForward) from = Math.max(from, placeAfter(all, start))
  if (start && !isForward) to = Math.min(to, place(all, start.sort, start.tie))
  if (isForward) for (let i = from; i < to; i++) yield (all[i] as Entry).item
  else for (let i = to - 1; i >= from; i--) yield (all[i] as Entry).item
}

/** The attributes that an index of keys only has. */
function* keysOf(items: Iterable<Item>, names: readonly string[]): Generator<Item> {
  for (const item of items) yield keyPart(item, names)
}

function* scanned(
  table: StoredTable,
  index: Index | undefined,
  isInSegment: IsInSegment,
  start: Start | undefined,
): Generator<Item> {
  const begin = start && newPartition(start.partition)
  for (const partition of (index?.partitions ?? table.partitions).scanned(begin)) {
    if (!isInSegment(partition)) continue
    const from = start && begin && scanOrder(partition, begin) === 0 ? placeAfter(partition.entries, start) : 0
    for (let i = from; i < partition.entries.length; i++) yield (partition.entries[i] as Entry).item
  }
}

function placeAfter(entries: readonly Entry[], { sort, tie }: Start): number {
  const at = place(entries, sort, tie)
  const entry = entries[at]
  return entry?.sort === sort && entry.tie === tie ? at + 1 : at
}

type Page = { readonly output: PageOutput; readonly last: Item | undefined }

function pageOf(
  items: Iterable<Item>,
  { Limit = Number.POSITIVE_INFINITY, Select }: PageInput,
  program: Program,
  context: Context,
  limits: PageLimits,
): Page {
  if (Limit < 1) throw validationError('Limit must be greater than or equal to 1')
  const mostItems = Math.min(Limit, limits.items)
  const found: Item[] = []
  let [matching, count, bytes] = [0, 0, 0]
  let last: Item | undefined
  for (const item of items) {
    count += 1
    context.item = item
    if (!program.condition || program.condition(context)) {
      matching += 1
      if (Select !== 'COUNT') found.push(shown(item, program, context))
    }
    if (limits.bytes !== Number.POSITIVE_INFINITY) bytes += itemBytes(item)
    if (count < mostItems && bytes < limits.bytes) continue
    last = item
    break
  }
  const counts = { Count: matching, ScannedCount: count }
  return { output: Select === 'COUNT' ? counts : { Items: found, ...counts }, last }
}

function withLastKey({ output, last }: Page, names: readonly string[]): PageOutput {
  if (!last) return output
  return { ...output, LastEvaluatedKey: keyPart(last, names) }
}

function keyPart(item: Item, names: readonly string[]): Item {
  return Object.fromEntries(names.map((name) => [name, item[name] as Value]))
}

function shown(item: Item, { projection }: Program, { names }: Context): Item {
  if (!projection) return item
  return (projected(item, projection, names) as Item | undefined) ?? {}
}
