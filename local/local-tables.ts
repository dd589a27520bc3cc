import type { LocalFile } from '../cli/connect/local-gateway.ts'
import type { LocalEndpoint } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'

export const LOCAL_TABLES = {
  keysTable: 'waybill-local-keys',
  usageTable: 'waybill-local-usage',
  answersTable: 'waybill-local-answers',
}

/** The database of a local gateway, for tools of its owner. */
export function endpointOf({ dynamodbEndpoint, dynamodbCredentials }: LocalFile): LocalEndpoint {
  return { endpoint: dynamodbEndpoint, ...(dynamodbCredentials && { credentials: dynamodbCredentials }) }
}
