import type { Context } from './context.ts'
import type { Path } from './expression.ts'
import { validationError } from './failures.ts'
import { type KeyRange, keyRange } from './key-range.ts'
import { keyNames, keyOnly, keyText } from './keys.ts'
import { bind, type Placeholders, type Program, programFor } from './program.ts'
import {
  type Entry,
  firstPlace,
  type Index,
  newPartition,
  place,
  type Schema,
  type StoredTable,
  scanOrder,
  tieOf,
} from './stored-table.ts'
import { attribute, copyOf, copyOfItem, type Item, isMap, itemFromDocument, type Value } from './value.ts'

type Output = Record<string, unknown>

export type GetInput = Placeholders & {
  readonly Key?: Record<string, unknown> | undefined
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
  readonly ExclusiveStartKey?: Record<string, unknown> | undefined
}

export function getItem(table: StoredTable, input: GetInput): Output {
  const program = programFor({ projection: input.ProjectionExpression })
  const context = bind(program, input)
  const item = table.get(keyOnly(table.definition, input.Key).key)
  return item ? { Item: shown(item, program, context) } : {}
}

export function query(table: StoredTable, input: PageInput, itemsPerPage: number): Output {
  const index = indexOf(table, input)
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
  const page = pageOf(entries, input, program, context, itemsPerPage)
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

export function scan(table: StoredTable, input: PageInput, itemsPerPage: number): Output {
  const program = programOf(input)
  const context = bind(program, input)
  const names = keyNames(table.definition)
  const start = input.ExclusiveStartKey && startOf(table, table.definition, names, input.ExclusiveStartKey)
  return withLastKey(pageOf(scanned(table, start), input, program, context, itemsPerPage), names)
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

function startOf(table: StoredTable, schema: Schema, names: readonly string[], given: object): Start {
  const item = itemFromDocument(given)
  if (Object.keys(item).length !== names.length) throw validationError('The provided starting key is invalid')
  const [partition, sort] = [keyText(item, schema.partitionKey), schema.sortKey ? keyText(item, schema.sortKey) : '']
  const { partitionKey, sortKey } = table.definition
  const own = { partition: keyText(item, partitionKey), sort: sortKey ? keyText(item, sortKey) : '' }
  return { partition, sort, tie: schema === table.definition ? '' : tieOf(own) }
}

/** Walked one by one, since a page may end long before the range does. */
function* entriesIn(all: readonly Entry[], range: KeyRange, start: Start | undefined, isForward: boolean) {
  let from = firstPlace(all, (entry) => range.isBefore(entry.sort))
  let to = firstPlace(all, (entry) => !range.isAfter(entry.sort))
  if (start && isForward) from = Math.max(from, placeAfter(all, start))
  if (start && !isForward) to = Math.min(to, place(all, start.sort, start.tie))
  if (isForward) for (let i = from; i < to; i++) yield (all[i] as Entry).item
  else for (let i = to - 1; i >= from; i--) yield (all[i] as Entry).item
}

/** What an index of keys only has of its items. */
function* keysOf(items: Iterable<Item>, names: readonly string[]): Generator<Item> {
  for (const item of items) yield Object.fromEntries(names.map((name) => [name, item[name] as Value]))
}

function* scanned(table: StoredTable, start: Start | undefined) {
  const begin = start && newPartition(start.partition)
  for (const partition of table.scanned()) {
    const order = begin ? scanOrder(partition, begin) : 1
    if (order < 0) continue
    const from = start && order === 0 ? placeAfter(partition.entries, start) : 0
    for (let i = from; i < partition.entries.length; i++) yield (partition.entries[i] as Entry).item
  }
}

function placeAfter(entries: readonly Entry[], { sort, tie }: Start): number {
  const at = place(entries, sort, tie)
  const entry = entries[at]
  return entry?.sort === sort && entry.tie === tie ? at + 1 : at
}

type Page = { readonly output: Output; readonly last: Item | undefined }

function pageOf(
  items: Iterable<Item>,
  input: PageInput,
  program: Program,
  context: Context,
  itemsPerPage: number,
): Page {
  const limit = input.Limit ?? itemsPerPage
  if (limit < 1) throw validationError('Limit must be greater than or equal to 1')
  const found: Item[] = []
  let count = 0
  let last: Item | undefined
  for (const item of items) {
    count += 1
    context.item = item
    if (!program.condition || program.condition(context)) found.push(shown(item, program, context))
    if (count < Math.min(limit, itemsPerPage)) continue
    last = item
    break
  }
  return { output: { Items: found, Count: found.length, ScannedCount: count }, last }
}

function withLastKey({ output, last }: Page, names: readonly string[]): Output {
  if (!last) return output
  return { ...output, LastEvaluatedKey: Object.fromEntries(names.map((name) => [name, last[name]])) }
}

function shown(item: Item, { projection }: Program, { names }: Context): Item {
  if (!projection) return copyOfItem(item)
  const result: Record<string, Value> = {}
  for (const path of projection) copyPath(item, result, path, names)
  return result
}

function copyPath(from: Item, to: Record<string, Value>, path: Path, names: readonly string[]): void {
  const [first, ...rest] = path
  const name = names[first as number] as string
  const value = attribute(from, name)
  if (value === undefined) return
  if (rest.length === 0) {
    to[name] = copyOf(value)
    return
  }
  if (!isMap(value)) return
  const inner = (to[name] ?? {}) as Record<string, Value>
  copyPath(value, inner, rest, names)
  if (Object.keys(inner).length > 0) to[name] = inner
}
