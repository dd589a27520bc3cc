import type { LocalEndpoint } from '../layers/gateway/store/dynamodb/dynamodb-client.ts'
import type { LocalFile } from '../operator/connect/local-gateway.ts'

export const LOCAL_TABLES = {
  keysTable: 'waybill-local-keys',
  usageTable: 'waybill-local-usage',
  answersTable: 'waybill-local-answers',
}

/** The database of a local gateway, for tools of its owner. */
export function endpointOf({ dynamodbEndpoint, dynamodbCredentials }: LocalFile): LocalEndpoint {
  return { endpoint: dynamodbEndpoint, ...(dynamodbCredentials && { credentials: dynamodbCredentials }) }
}
