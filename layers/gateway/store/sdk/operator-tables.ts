import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { LOCAL, type LocalEndpoint } from '../dynamodb/dynamodb-client.ts'
import { openTables, type TableNames, type Tables } from '../dynamodb/tables.ts'

/** The tables with AWS's SDK for transactions and batches, which only the admin API makes. */
export type OperatorTables = Tables & {
  readonly client: DynamoDBDocumentClient
  readonly onceClient: DynamoDBDocumentClient
}

type Logger = NonNullable<DynamoDBClientConfig['logger']>

const IN_AWS = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
}

const ON_THIS_MACHINE = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 20_000, requestTimeout: 20_000, httpAgent: { maxSockets: 256 } },
  ...LOCAL,
}

const ignore = () => {}
/** The SDK copies every answer for the `info` of its own logger, which drops it: a seventh of the time of reading rows. */
const NO_LOGGER = { trace: ignore, debug: ignore, warn: ignore, error: ignore } as Logger

/** One attempt, and its error unchanged. */
const ONCE: Pick<DynamoDBClientConfig, 'retryStrategy'> = { retryStrategy: { retry: (next, args) => next(args) } }

const TRANSLATION = { marshallOptions: { removeUndefinedValues: true } }

export function openOperatorTables(names: TableNames, local?: LocalEndpoint): OperatorTables {
  const settings = { logger: NO_LOGGER, ...(local ? { ...ON_THIS_MACHINE, ...local } : IN_AWS) }
  const bare = new DynamoDBClient(settings)
  // Both share the connections.
  const bareOnce = new DynamoDBClient({ ...settings, ...ONCE, requestHandler: bare.config.requestHandler })
  const client = DynamoDBDocumentClient.from(bare, TRANSLATION)
  const onceClient = DynamoDBDocumentClient.from(bareOnce, TRANSLATION)
  return { ...openTables(names, local), client, onceClient }
}
