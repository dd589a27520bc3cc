import { unsupported, validationError } from './failures.ts'

export type Members = Readonly<Record<string, unknown>>

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues']
const CONDITIONAL = [
  ...['TableName', ...PLACEHOLDERS, 'ConditionExpression'],
  ...['ReturnValuesOnConditionCheckFailure', 'ReturnValues'],
]
const PAGE = [
  ...['TableName', 'IndexName', 'ConsistentRead', 'FilterExpression', 'ProjectionExpression', 'Select', 'Limit'],
  ...['ExclusiveStartKey', ...PLACEHOLDERS],
]
const MEMBERS = {
  Put: new Set([...CONDITIONAL, 'Item']),
  Update: new Set([...CONDITIONAL, 'Key', 'UpdateExpression']),
  Delete: new Set([...CONDITIONAL, 'Key']),
  ConditionCheck: new Set([...CONDITIONAL, 'Key']),
  Get: new Set(['TableName', 'Key', 'ConsistentRead', 'ProjectionExpression', ...PLACEHOLDERS]),
  Query: new Set([...PAGE, 'KeyConditionExpression', 'ScanIndexForward']),
  Scan: new Set(PAGE),
  TransactWrite: new Set(['TransactItems', 'ClientRequestToken']),
}

/** Refuses members that would be ignored silently. */
export function refuseOthers(command: keyof typeof MEMBERS, input: object): void {
  for (const member in input) {
    if (!MEMBERS[command].has(member) && input[member as keyof typeof input] !== undefined) throw unsupported(member)
  }
}

const MOST_ITEMS = 100

export function checkCount(operation: string, items: readonly unknown[]): void {
  if (items.length < 1 || items.length > MOST_ITEMS) {
    throw validationError(`Too few or too many items for the ${operation} call: 1 to ${MOST_ITEMS}`)
  }
}

const ITEMS: ReadonlySet<string> = new Set([
  ...['Item', 'Key', 'Attributes', 'LastEvaluatedKey', 'ExclusiveStartKey', 'ExpressionAttributeValues'],
])
const LISTS_OF_ITEMS: ReadonlySet<string> = new Set(['Items', 'Keys'])

/** A command or an answer with every key, item and map of values in it converted. */
export function convertItems<To>(members: Members, convert: (item: never) => To): Members {
  const converted: Record<string, unknown> = {}
  for (const name in members) {
    const value = members[name]
    if (value === undefined) continue
    if (!isObject(value) || name === 'ExpressionAttributeNames') converted[name] = value
    else if (ITEMS.has(name)) converted[name] = convert(value as never)
    else if (LISTS_OF_ITEMS.has(name) && Array.isArray(value))
      converted[name] = value.map((one) => convert(one as never))
    else if (name === 'RequestItems')
      converted[name] = byTable(value, (request: object) => convertAll(request, convert))
    else if (name === 'Responses') converted[name] = byTable(value, (items: never[]) => items.map(convert))
    else converted[name] = convertAll(value, convert)
  }
  return converted
}

function convertAll<To>(value: object, convert: (item: never) => To): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => (isObject(one) ? convertAll(one, convert) : one))
  return convertItems(value as Members, convert)
}

/** Names of tables stand in place of members. */
function byTable<From>(value: object, convert: (ofTable: From) => unknown): unknown {
  return Object.fromEntries(Object.entries(value).map(([table, ofTable]) => [table, convert(ofTable)]))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
