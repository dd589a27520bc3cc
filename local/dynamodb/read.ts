import { unsupported, validationError } from './failures.ts'
import { AFTER, inOrder, keyIn, keyNames, keyOnly, refuseTwice, type Schema } from './keys.ts'
import { checkCount, type Input, refuseOthers } from './members.ts'
import type { Part, Values } from './parse-expression.ts'
import { type Bound, bind } from './program.ts'
import type { Storage } from './storage.ts'
import { type Item, itemBytes, pick } from './values.ts'

export function getItem(storage: Storage, input: Input): { readonly Item?: Item } {
  refuseOthers('Get', input)
  const table = storage.get(input.TableName)
  const { projection } = bind(input)
  const item = table.own.entries.get(keyOnly(table.schema, input.Key).place)
  return item ? { Item: projection ? pick(item, projection) : item } : {}
}

export function batchGet(storage: Storage, { RequestItems = {} }: Input) {
  const gets = Object.entries(RequestItems).flatMap(([TableName, { Keys = [], ...members }]) =>
    Keys.map((Key) => ({ TableName, Key, ...members })),
  )
  checkCount('BatchGetItem', gets)
  const places = gets.map(({ TableName, Key }) => `${TableName}\0${keyOnly(storage.get(TableName).schema, Key).place}`)
  refuseTwice(places, 'Provided list of item keys contains duplicates')
  const Responses: Record<string, Item[]> = {}
  for (const get of gets) {
    const { Item: found } = getItem(storage, get)
    Responses[get.TableName] = [...(Responses[get.TableName] ?? []), ...(found ? [found] : [])]
  }
  return { Responses, UnprocessedKeys: {} }
}

export function readPage(storage: Storage, operation: 'Query' | 'Scan', input: Input) {
  refuseOthers(operation, input)
  const { IndexName, ExclusiveStartKey, Limit = Number.POSITIVE_INFINITY } = input
  const table = storage.get(input.TableName)
  const index = table.indexes.find(({ name }) => name === IndexName)
  if (IndexName !== undefined && !index) throw validationError(`The table has not the specified index: ${IndexName}`)
  if (index && input.ConsistentRead) throw validationError('Consistent reads are not supported on indexes')
  const source = index ?? table.own
  const bound = bind(input)
  const { condition, projection, values } = bound
  const range = operation === 'Query' ? keyRange(bound, source.schema) : { from: '', to: AFTER }
  const isForward = input.ScanIndexForward !== false
  /** No item of a table follows one at a bound that is itself within, and DynamoDB Local knows it. */
  const isLast = (place: string) => !index && (isForward ? range.to === `${place}${AFTER}` : range.from === place)
  const placeIn = (item: Item) => `${keyIn(source.schema, item).place}${index ? keyIn(table.schema, item).place : ''}`
  const keys = [...new Set([...keyNames(source.schema), ...keyNames(table.schema)])]
  const shown = index?.projection === 'keys' ? keys : undefined
  let { from, to } = range
  if (ExclusiveStartKey) {
    if (Object.keys(ExclusiveStartKey).length !== keys.length) throw validationError('The starting key is invalid')
    const place = placeIn(ExclusiveStartKey)
    if (place < from || place >= to || isLast(place)) {
      throw validationError('The provided starting key does not match the range key predicate')
    }
    if (isForward) from = `${place}\0`
    else to = place
  }
  if (Limit < 1) throw validationError('Limit must be greater than or equal to 1')
  const found: Item[] = []
  let [count, bytes] = [0, 0]
  let last: Item | undefined
  for (const entry of source.entries.range(from, to, isForward)) {
    const item = shown ? pick(entry, shown) : entry
    count += 1
    bytes += itemBytes(item)
    if (!condition || condition.holds(item, values)) found.push(item)
    if (count < Limit && bytes < 1024 * 1024) continue
    last = item
    break
  }
  const isAtEnd = last && operation === 'Query' && (!source.schema.sortKey || isLast(placeIn(last)))
  return {
    Items: projection ? found.map((item) => pick(item, projection)) : found,
    Count: found.length,
    ScannedCount: count,
    ...(last && !isAtEnd && { LastEvaluatedKey: pick(last, keys) }),
  }
}

type KeyRange = { readonly from: string; readonly to: string }

/** From a sort key to another. A zero ends a key, so that one is not taken for the beginning of another. */
const BOUNDS: Readonly<Partial<Record<Part['kind'], (value: string, high: string) => KeyRange>>> = {
  // Says the same as \0 and AFTER would, but the item is not known to be the last.
  '=': (value) => ({ from: value, to: `${value}\0\xfe` }),
  '<': (value) => ({ from: '', to: `${value}\0` }),
  '<=': (value) => ({ from: '', to: `${value}\0${AFTER}` }),
  '>': (value) => ({ from: `${value}\0${AFTER}`, to: AFTER }),
  '>=': (value) => ({ from: `${value}\0`, to: AFTER }),
  BETWEEN: (low, high) => ({ from: `${low}\0`, to: `${high}\0${AFTER}` }),
}

function keyRange({ keyCondition, condition, values }: Bound, { partitionKey, sortKey }: Schema): KeyRange {
  if (!keyCondition) throw validationError('Either the KeyConditions or KeyConditionExpression must be given')
  const isKey = ({ name }: { readonly name?: string }) => name !== undefined && [partitionKey, sortKey].includes(name)
  if (condition?.parts.some(({ operands }) => operands.some(isKey))) {
    throw validationError('Filter Expression can only contain non-primary key attributes')
  }
  const { parts } = keyCondition
  if (parts.some(({ operands: [first] }) => first?.token || first?.type)) {
    throw unsupported('key conditions that begin with a value or a size')
  }
  const byName = new Map(parts.map((part) => [part.operands[0]?.name, part]))
  const [partition, sort] = [byName.get(partitionKey), sortKey ? byName.get(sortKey) : undefined]
  if (!partition || parts.length !== (sort ? 2 : 1)) throw validationError('Query condition missed key schema element')
  const boundsOf = sort ? BOUNDS[sort.kind] : () => ({ from: '', to: AFTER })
  if (partition.kind !== '=' || !boundsOf) throw validationError('Query key condition not supported')
  const [name] = textsIn(partition, values)
  const [value = '', high = ''] = sort ? textsIn(sort, values) : []
  const { from, to } = boundsOf(value, high)
  return { from: `${name}\0${from}`, to: `${name}\0${to}` }
}

function textsIn({ operands }: Part, values: Values): string[] {
  return operands.slice(1).map(({ token = '' }) => {
    const text = values[token]?.S
    if (text === undefined) throw validationError('Condition parameter type does not match schema type')
    if (text === '') throw validationError('A key attribute cannot contain an empty string value')
    return inOrder(text)
  })
}
