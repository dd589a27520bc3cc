import { unsupported, validationError } from './failures.ts'
import type { Item } from './values.ts'

export type Members = Readonly<Record<string, unknown>>

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

type TextName =
  | `${'Condition' | 'Filter' | 'KeyCondition' | 'Projection' | 'Update'}Expression`
  | `${'Table' | 'Index'}Name`
  | `ReturnValues${'' | 'OnConditionCheckFailure'}`
  | 'ClientRequestToken'

/** The members of any command for items. Each is refused where it has no place. */
export type Input = { readonly [Name in TextName]?: string } & {
  readonly [Name in 'Key' | 'Item' | 'ExclusiveStartKey' | 'ExpressionAttributeValues']?: Item
} & {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ScanIndexForward?: boolean
  readonly ConsistentRead?: boolean
  readonly Limit?: number
  readonly RequestItems?: Readonly<Record<string, Input & { readonly Keys?: readonly Item[] }>>
  readonly TransactItems?: readonly Partial<Record<WriteKind, Input>>[]
}

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues']
const CONDITIONAL = [
  ...['TableName', ...PLACEHOLDERS, 'ConditionExpression'],
  ...['ReturnValuesOnConditionCheckFailure', 'ReturnValues'],
]
const PAGE = [
  ...['TableName', 'IndexName', 'ConsistentRead', 'FilterExpression', 'ProjectionExpression', 'Limit'],
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

export function checkCount(operation: string, items: readonly unknown[]): void {
  if (items.length < 1 || items.length > 100) {
    throw validationError(`Too few or too many items for the ${operation} call: 1 to 100`)
  }
}
