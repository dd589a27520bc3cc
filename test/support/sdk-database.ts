import { DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { ServiceError } from '../../layers/gateway/platform/aws/service-error.ts'
import { isConditionFailed } from '../../layers/gateway/store/dynamodb/conditional-writes.ts'
import type { Database } from '../../layers/gateway/store/dynamodb/database.ts'
import { LOCAL, type LocalEndpoint } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'

type Client = Pick<DynamoDBDocumentClient, 'send'>

/** AWS's SDK, to compare with what is ours. */
export function sdkClient(local: LocalEndpoint, maxAttempts = 3): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...LOCAL, ...local, maxAttempts })
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}

/** The same database through AWS's SDK. */
export function sdkDatabase(client: Client, withoutRetries: Client): Database {
  return {
    get: (input) => plain(client.send(new GetCommand(input))),
    put: (input) => plain(client.send(new PutCommand(input))),
    update: (input) => plain(client.send(new UpdateCommand(input))),
    updateOnce: (input) => plain(withoutRetries.send(new UpdateCommand(input))),
    delete: (input) => plain(client.send(new DeleteCommand(input))),
    query: (input) => plain(client.send(new QueryCommand(input))),
    scan: (input) => plain(client.send(new ScanCommand(input))),
    async transact({ items, token }) {
      await plain(
        withoutRetries.send(new TransactWriteCommand({ TransactItems: [...items], ClientRequestToken: token })),
      )
    },
    async batchGet(table, keys) {
      const RequestItems = { [table]: { Keys: [...keys], ConsistentRead: true } }
      const { Responses, UnprocessedKeys } = await plain(client.send(new BatchGetCommand({ RequestItems })))
      return { Items: Responses?.[table] ?? [], left: UnprocessedKeys?.[table]?.Keys ?? [] }
    },
    control: () => Promise.reject(new Error('Tables are made by our own client.')),
  }
}

/** Its errors as our client has them: the document client leaves the item of a failed condition in DynamoDB's JSON. */
async function plain<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (isConditionFailed(error) && error.Item) Object.assign(error, { Item: unmarshall(error.Item as never) })
    if (!(error instanceof TransactionCanceledException)) throw error
    const { name, message, CancellationReasons } = error
    throw new ServiceError(name, message, { answer: { CancellationReasons } })
  }
}
