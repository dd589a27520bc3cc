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
