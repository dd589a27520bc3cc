import { startDynamoDb } from '../../local/dynamodb-local.ts'

/** One DynamoDB Local for the whole run; every test makes tables of its own in it. */
export default async function startForTests(): Promise<void> {
  const stack = new AsyncDisposableStack()
  const { endpoint } = await startDynamoDb(null, stack)
  process.env.TEST_DYNAMODB = endpoint
  Object.assign(globalThis, { dynamodbOfTheTests: stack })
}
