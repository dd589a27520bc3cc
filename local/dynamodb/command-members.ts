// The members that each command may have. Others are refused, because they would be ignored.

const PLACEHOLDERS = ['ExpressionAttributeNames', 'ExpressionAttributeValues']
const CONDITIONAL = [
  ...['TableName', ...PLACEHOLDERS, 'ConditionExpression'],
  ...['ReturnValuesOnConditionCheckFailure', 'ReturnValues'],
]
export const WRITE_MEMBERS = {
  Put: new Set([...CONDITIONAL, 'Item']),
  Update: new Set([...CONDITIONAL, 'Key', 'UpdateExpression']),
  Delete: new Set([...CONDITIONAL, 'Key']),
  ConditionCheck: new Set([...CONDITIONAL, 'Key']),
}
export const GET_MEMBERS = new Set(['TableName', 'Key', 'ConsistentRead', 'ProjectionExpression', ...PLACEHOLDERS])
const PAGE_MEMBERS = [
  ...['TableName', 'IndexName', 'ConsistentRead', 'FilterExpression', 'ProjectionExpression', 'Select', 'Limit'],
  ...['ExclusiveStartKey', ...PLACEHOLDERS],
]
export const SCAN_MEMBERS = new Set([...PAGE_MEMBERS, 'Segment', 'TotalSegments'])
export const QUERY_MEMBERS = new Set([...PAGE_MEMBERS, 'KeyConditionExpression', 'ScanIndexForward'])
export const TRANSACTION_MEMBERS = new Set(['TransactItems', 'ClientRequestToken'])
