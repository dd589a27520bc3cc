import type { Database } from '../../layers/gateway/store/dynamodb/database.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/tables.ts'

export type Interceptor = (send: () => Promise<unknown>, operation: string, input: unknown) => Promise<unknown>

/** As DynamoDB names them. */
const OPERATIONS: Record<keyof Database, string> = {
  get: 'GetItem',
  put: 'PutItem',
  update: 'UpdateItem',
  updateOnce: 'UpdateItem',
  delete: 'DeleteItem',
  scan: 'Scan',
  query: 'Query',
}

/** Puts something between the gateway and DynamoDB, in front of every call; call what it returns to take it away. */
export function intercept({ database }: Tables, interceptor: Interceptor): () => void {
  const before = { ...database }
  for (const [verb, operation] of Object.entries(OPERATIONS) as [keyof Database, string][]) {
    const send = before[verb] as (input: unknown) => Promise<unknown>
    Object.assign(database, { [verb]: (input: unknown) => interceptor(() => send(input), operation, input) })
  }
  return () => void Object.assign(database, before)
}
