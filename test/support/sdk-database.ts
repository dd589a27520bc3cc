import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { isConditionFailed } from '../../layers/gateway/store/dynamodb/conditional-writes.ts'
import type { Database } from '../../layers/gateway/store/dynamodb/database.ts'

type Client = Pick<DynamoDBDocumentClient, 'send'>

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
  }
}

/** The document client leaves the item of a failed condition in DynamoDB's JSON. */
async function plain<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (isConditionFailed(error) && error.Item) Object.assign(error, { Item: unmarshall(error.Item as never) })
    throw error
  }
}
