import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Config } from '../config.ts'

export type Tables = { readonly client: DynamoDBDocumentClient; readonly keys: string; readonly usage: string }

type Names = Pick<Config, 'keysTable' | 'usageTable'>

/** Where DynamoDB Local listens; without it, AWS and whatever its own settings say. */
export type LocalEndpoint = { readonly endpoint: string }

export function openTables(names: Names, local?: LocalEndpoint): Tables {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
    ...(local && {
      endpoint: local.endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
  })
  return {
    client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    keys: names.keysTable,
    usage: names.usageTable,
  }
}
