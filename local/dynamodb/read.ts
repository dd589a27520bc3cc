import { holds, namesIn } from './condition.ts'
import { unsupported, validationError } from './failures.ts'
import { keyRange } from './key-range.ts'
import { keyIn, keyNames, keyOnly, placeInTables, refuseTwice } from './keys.ts'
import { checkCount, refuseOthers } from './members.ts'
import { type Bound, bind, type Placeholders, type Texts } from './program.ts'
import { type Entry, entriesIn, type Schema, type Sorted, type Start, type StoredTable, tieOf } from './stored-table.ts'
import type { TableDirectory } from './table-directory.ts'
import { type Item, itemBytes, pick } from './value.ts'

export type GetInput = Placeholders & Texts<'TableName' | 'ProjectionExpression'> & { readonly Key?: Item | undefined }

type PageTexts = 'TableName' | 'IndexName' | `${'KeyCondition' | 'Filter' | 'Projection'}Expression` | 'Select'
export type PageInput = Placeholders &
  Texts<PageTexts> & {
    readonly ScanIndexForward?: boolean | undefined
    readonly ConsistentRead?: boolean | undefined
    readonly Limit?: number | undefined
    readonly ExclusiveStartKey?: Item | undefined
  }

export function getItem(tables: TableDirectory, input: GetInput): { readonly Item?: Item } {
  refuseOthers('Get', input)
  const table = tables.get(input.TableName)
  const bound = bind({ projection: input.ProjectionExpression }, input)
  const item = table.get(keyOnly(table.definition, input.Key))
  return item ? { Item: shown(item, bound) } : {}
}

type BatchGetInput = { readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Item[] }>> }

export function batchGet(tables: TableDirectory, { RequestItems = {} }: BatchGetInput) {
  const gets = Object.entries(RequestItems).flatMap(([TableName, { Keys = [], ...members }]) =>
    Keys.map((Key) => ({ TableName, Key, ...members })),
  )
  checkCount('BatchGetItem', gets)
  const places = gets.map(({ TableName, Key }) => {
    const table = tables.get(TableName)
    return placeInTables(table, keyOnly(table.definition, Key))
  })
  refuseTwice(places, 'Provided list of item keys contains duplicates')
  const Responses: Record<string, Item[]> = {}
  for (const get of gets) {
    const found = getItem(tables, get).Item
    Responses[get.TableName] = [...(Responses[get.TableName] ?? []), ...(found ? [found] : [])]
  }
  return { Responses, UnprocessedKeys: {} }
}

export function query(tables: TableDirectory, input: PageInput, mostBytes: number) {
  refuseOthers('Query', input)
  const table = tables.get(input.TableName)
  const prepared = prepare(table, input)
  const { source, start, bound } = prepared
  const { schema, partitions } = source
  if (!bound.keyCondition) throw validationError('Either the KeyConditions or KeyConditionExpression must be given')
  refuseKeysInFilter(bound, schema)
  const range = keyRange(bound.keyCondition, schema, bound.values)
  const isForward = input.ScanIndexForward !== false
  const end = source === table.own ? (isForward ? range.highest : range.lowest) : undefined
  if (start && (start.partition !== range.partition || range.side(start.sort) !== 0 || start.sort === end)) {
    throw validationError('The provided starting key does not match the range key predicate')
  }
  const entries = entriesIn(partitions.get(range.partition), range.side, start, isForward)
  const { LastEvaluatedKey: last, ...page } = pageOf(entries, prepared, mostBytes)
  const isAtEnd = !last || !schema.sortKey || (end !== undefined && last[schema.sortKey] === end)
  return isAtEnd ? page : { ...page, LastEvaluatedKey: last }
}

export function scan(tables: TableDirectory, input: PageInput, mostBytes: number) {
  refuseOthers('Scan', input)
  const prepared = prepare(tables.get(input.TableName), input)
  return pageOf(prepared.source.partitions.scan(prepared.start), prepared, mostBytes)
}

type Prepared = ReturnType<typeof prepare>

function prepare(table: StoredTable, input: PageInput) {
  if (input.Select !== undefined && input.Select !== 'COUNT') throw unsupported(`the Select ${input.Select}`)
  if (input.Select && input.ProjectionExpression) throw validationError('Select COUNT has no ProjectionExpression')
  const source = sourceOf(table, input)
  const { FilterExpression: condition, KeyConditionExpression: keyCondition, ProjectionExpression: projection } = input
  const bound = bind({ condition, keyCondition, projection }, input)
  const keys = [...new Set([...keyNames(source.schema), ...keyNames(table.definition)])]
  const start = input.ExclusiveStartKey && startOf(table, source, keys, input.ExclusiveStartKey)
  return { input, source, keys, start, bound }
}

function sourceOf(table: StoredTable, { IndexName, ConsistentRead }: PageInput): Sorted {
  if (IndexName === undefined) return table.own
  const index = table.indexes.find(({ name }) => name === IndexName)
  if (!index) throw validationError(`The table does not have the specified index: ${IndexName}`)
  if (ConsistentRead) throw validationError('Consistent reads are not supported on global secondary indexes')
  return index
}

function startOf(table: StoredTable, source: Sorted, keys: readonly string[], item: Item): Start {
  if (Object.keys(item).length !== keys.length) throw validationError('The provided starting key is invalid')
  return { ...keyIn(source.schema, item), tie: source === table.own ? '' : tieOf(keyIn(table.definition, item)) }
}

function refuseKeysInFilter({ condition }: Bound, schema: Schema): void {
  const keys = keyNames(schema)
  if (condition && namesIn(condition).some((name) => keys.includes(name))) {
    throw validationError('Filter Expression can only contain non-primary key attributes')
  }
}

function pageOf(entries: Iterable<Entry>, { input, source, keys, bound }: Prepared, mostBytes: number) {
  const { Limit = Number.POSITIVE_INFINITY, Select } = input
  if (Limit < 1) throw validationError('Limit must be greater than or equal to 1')
  const found: Item[] = []
  let [count, bytes] = [0, 0]
  let last: Item | undefined
  for (const entry of entries) {
    const item = source.projection === 'keys' ? pick(entry.item, keys) : entry.item
    count += 1
    if (!bound.condition || holds(bound.condition, item, bound.values)) found.push(item)
    if (mostBytes !== Number.POSITIVE_INFINITY) bytes += itemBytes(item)
    if (count < Limit && bytes < mostBytes) continue
    last = item
    break
  }
  return {
    ...(Select !== 'COUNT' && { Items: found.map((item) => shown(item, bound)) }),
    Count: found.length,
    ScannedCount: count,
    ...(last && { LastEvaluatedKey: pick(last, keys) }),
  }
}

function shown(item: Item, { projection }: Bound): Item {
  return projection ? pick(item, projection) : item
}
