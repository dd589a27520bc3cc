import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { startDatabase } from '../../../local/database-thread.ts'
import { Engine } from '../../../local/dynamodb/engine.ts'
import { createDynamoDbServer } from '../../../local/dynamodb/http-server.ts'

const stack = new AsyncDisposableStack()

const database = await startDatabase({ file: null, credentials: null }, stack)
const AttributeDefinitions = [{ AttributeName: 'pk', AttributeType: 'S' }]
const KeySchema = [{ AttributeName: 'pk', KeyType: 'HASH' }]
await ask('CreateTable', JSON.stringify({ TableName: 'table', AttributeDefinitions, KeySchema }))
afterAll(() => stack.disposeAsync())

async function ask(operation: string, body: string) {
  const headers = { 'X-Amz-Target': `DynamoDB_20120810.${operation}` }
  const response = await fetch(database.endpoint, { method: 'POST', headers, body })
  return {
    status: response.status,
    answer: (await response.json()) as { __type?: string; message?: string; TableNames?: string[] },
  }
}

const OPERATIONS = [
  ...['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'BatchGetItem'],
  ...['TransactWriteItems', 'CreateTable', 'DescribeTable', 'UpdateTimeToLive', '__proto__', ''],
]

const BODIES: Readonly<Record<string, string>> = {
  'no JSON': '{',
  'a list': '[]',
  null: 'null',
  'numbers for maps': '{"TableName":"table","Key":5,"Item":7,"ExpressionAttributeValues":[1],"ExclusiveStartKey":[]}',
  'objects for texts':
    '{"TableName":"table","Key":{"pk":{"S":"a"}},"KeyConditionExpression":5,"FilterExpression":{},"ConditionExpression":7,"UpdateExpression":[],"ProjectionExpression":{}}',
  'nothing for lists': '{"RequestItems":{"table":null},"TransactItems":[null],"KeySchema":5,"AttributeDefinitions":7}',
  'members of other types': '{"RequestItems":{"table":[1]},"TransactItems":{"a":1},"TableName":["table"],"Limit":"x"}',
  '100,000 lists in each other': `{"TransactItems":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  '100,000 maps in each other': `{"TableName":"table","Item":{"pk":${'{"M":{"a":'.repeat(100_000)}{"S":"x"}${'}}'.repeat(100_000)}}}`,
  '1,000 conditions in each other': `{"TableName":"table","Key":{"pk":{"S":"a"}},"ConditionExpression":"${'NOT '.repeat(1_000)}attribute_exists(a)"}`,
}

test.each(Object.entries(BODIES))('a body with %s is refused, and the database lives on', async (_, body) => {
  for (const operation of body.length > 1_000 ? OPERATIONS.slice(0, 3) : OPERATIONS) {
    const { status, answer } = await ask(operation, body)
    if (status !== 200)
      expect([operation, status, answer.__type]).toEqual([operation, 400, expect.stringMatching(/Exception$/)])
  }
  expect((await ask('ListTables', '{}')).answer).toEqual({ TableNames: ['table'] })
})

test('a body of more than 17 MiB is refused with the limit, and the database lives on', async () => {
  const { status, answer } = await ask('PutItem', ' '.repeat(17 * 1024 * 1024 + 1))
  expect([status, answer.__type, answer.message]).toEqual([
    413,
    expect.stringMatching(/#RequestTooLargeException$/),
    expect.stringMatching(/\d{8}/),
  ])
  expect((await ask('ListTables', '{}')).status).toBe(200)
})

test.each([
  ['numbers that are no integers', { N: '0.5' }],
  ['the type SS', { SS: ['a'] }],
  ['the type NS', { NS: ['1'] }],
])('%s, which the gateway never writes, are refused by name: %j', async (what, value) => {
  const { status, answer } = await ask(
    'PutItem',
    JSON.stringify({ TableName: 'table', Item: { pk: { S: 'a' }, value } }),
  )
  expect([status, answer.message]).toEqual([400, expect.stringContaining(`does not support ${what}, `)])
})

test.each([
  [
    'Query',
    { KeyConditionExpression: 'size(pk) = :a' },
    'does not support key conditions that begin with a value or a size',
  ],
  [
    'UpdateTimeToLive',
    { TimeToLiveSpecification: { Enabled: true } },
    'TimeToLiveSpecification takes AttributeName and',
  ],
])('%s with %j is refused', async (operation, input, message) => {
  const ExpressionAttributeValues = operation === 'Query' ? { ':a': { S: 'a' } } : undefined
  const { status, answer } = await ask(
    operation,
    JSON.stringify({ TableName: 'table', ...input, ExpressionAttributeValues }),
  )
  expect([status, answer.message]).toEqual([400, expect.stringContaining(message)])
})

test('a name may stand for itself', async () => {
  const names = { ProjectionExpression: '#a', ExpressionAttributeNames: { '#a': '#a' } }
  expect((await ask('GetItem', JSON.stringify({ TableName: 'table', Key: { pk: { S: 'a' } }, ...names }))).status).toBe(
    200,
  )
})

test('a request that is half sent when the database of a file ends does nothing more to it', async () => {
  const engine = new Engine({ file: join(mkdtempSync(join(tmpdir(), 'waybill-half-')), 'data') })
  const server = createDynamoDbServer(engine, null).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
  await once(server, 'request')
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
  engine.close()
  // An exception here would end the process.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(() => engine.commit()).not.toThrow()
})

test('an operation that it does not have is refused by name', async () => {
  const RequestItems = { table: [{ PutRequest: { Item: { pk: { S: 'a' } } } }] }
  const { status, answer } = await ask('BatchWriteItem', JSON.stringify({ RequestItems }))
  expect([status, answer.message]).toEqual([400, expect.stringContaining('does not support BatchWriteItem, ')])
})
