import { ServiceError } from '../../layers/gateway/platform/aws/service-error.ts'
import type { Database, Tables } from '../../layers/gateway/store/dynamodb/database.ts'

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
  transact: 'TransactWriteItems',
  batchGet: 'BatchGetItem',
  control: '',
}

/** Puts something between the gateway and DynamoDB, in front of every call; call what it returns to take it away. */
export function intercept({ database }: Tables, interceptor: Interceptor): () => void {
  const before = { ...database }
  for (const [verb, operation] of Object.entries(OPERATIONS) as [keyof Database, string][]) {
    const send = before[verb] as (input: unknown, ...more: unknown[]) => Promise<unknown>
    const intercepted = (input: unknown, ...more: unknown[]) =>
      interceptor(() => send(input, ...more), operation, input)
    Object.assign(database, { [verb]: intercepted })
  }
  return () => void Object.assign(database, before)
}

/** The error of a transaction that was cancelled, with a reason for each of its writes. */
export function canceled(...codes: string[]): ServiceError {
  const answer = { CancellationReasons: codes.map((Code) => ({ Code })) }
  return new ServiceError('TransactionCanceledException', 'The transaction was cancelled.', { answer })
}
