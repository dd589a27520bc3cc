import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Config } from '../config.ts'

export type Tables = {
  readonly client: DynamoDBDocumentClient
  /** Sends a command once and never again by itself, for a write that must not land a second time, later. */
  readonly clientWithoutRetries: DynamoDBDocumentClient
  readonly keys: string
  readonly usage: string
  readonly answers: string
}

type Names = Pick<Config, 'keysTable' | 'usageTable' | 'answersTable'>

/** The address of DynamoDB Local. Without it the client talks to AWS by AWS's own settings. */
type LocalEndpoint = { readonly endpoint: string }

/** A function has one request at a time, and a client waiting for it. */
const IN_AWS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
}

/** On one machine every request shares the connections and the processor with the database itself. */
const ON_THIS_MACHINE = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 20_000, requestTimeout: 20_000, httpAgent: { maxSockets: 256 } },
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
}

const TRANSLATION = { marshallOptions: { removeUndefinedValues: true } }

export function openTables(names: Names, local?: LocalEndpoint): Tables {
  const settings = local ? { ...ON_THIS_MACHINE, endpoint: local.endpoint } : IN_AWS
  const client = new DynamoDBClient(settings)
  // Both share the connections.
  const withoutRetries = new DynamoDBClient({
    ...settings,
    maxAttempts: 1,
    requestHandler: client.config.requestHandler,
  })
  return {
    client: DynamoDBDocumentClient.from(client, TRANSLATION),
    clientWithoutRetries: DynamoDBDocumentClient.from(withoutRetries, TRANSLATION),
    keys: names.keysTable,
    usage: names.usageTable,
    answers: names.answersTable,
  }
}
