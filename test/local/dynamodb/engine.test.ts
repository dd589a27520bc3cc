import { beforeEach, describe, expect, test } from '@jest/globals'
import { TABLES } from '../../../layers/gateway/names.ts'
import { Engine } from '../../../local/dynamodb/engine.ts'
import type { Members } from '../../../local/dynamodb/members.ts'
import { addTables, executeOn } from '../../simulation/dynamodb/dynamodb-model.ts'

const NOW = Date.UTC(2026, 10, 16)
const KEY = { pk: 'p', sk: 's' }
let nowMs = NOW
let engine: Engine

beforeEach(() => {
  nowMs = NOW
  engine = new Engine({ clock: () => nowMs })
  addTables(engine, TABLES)
})

function ask(operation: string, input: Members): unknown {
  try {
    return executeOn(engine, operation, input)
  } catch (error) {
    return error
  }
}

const put = { TableName: 'keys', Item: KEY }
const addOne = { TableName: 'keys', Key: KEY, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } }
const transaction = { TransactItems: [{ Update: addOne }] }
describe('until a write is settled', () => {
  test('a plain write of an item in a transaction meets a conflict, and is done afterwards', () => {
    ask('TransactWriteItems', transaction)
    for (const [operation, input] of [
      ['UpdateItem', addOne],
      ['PutItem', put],
      ['DeleteItem', { TableName: 'keys', Key: KEY }],
    ] as const) {
      expect(ask(operation, input)).toMatchObject({ name: 'TransactionConflictException' })
    }
    expect(ask('GetItem', { TableName: 'keys', Key: KEY })).toEqual({ Item: { ...KEY, n: 1 } })
    engine.commit()
    expect(ask('UpdateItem', { ...addOne, ReturnValues: 'ALL_NEW' })).toEqual({ Attributes: { ...KEY, n: 2 } })
  })

  test('a transaction with an item of another one is canceled with that reason, and changes nothing', () => {
    ask('TransactWriteItems', transaction)
    const other = { Put: { TableName: 'usage', Item: { part: 'p', requestId: 'r' } } }
    expect(ask('TransactWriteItems', { TransactItems: [other, ...transaction.TransactItems] })).toMatchObject({
      name: 'TransactionCanceledException',
      detail: { CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] },
    })
    expect(ask('GetItem', { TableName: 'usage', Key: { part: 'p', requestId: 'r' } })).toEqual({})
  })
})

test('a transaction is done once for its token, for ten minutes', () => {
  const once = { ...transaction, ClientRequestToken: 'token' }
  for (let i = 0; i < 3; i++) {
    expect(ask('TransactWriteItems', once)).toEqual({})
    engine.commit()
  }
  const other = { TransactItems: [{ Put: put }], ClientRequestToken: 'token' }
  expect(ask('TransactWriteItems', other)).toMatchObject({ name: 'IdempotentParameterMismatchException' })
  nowMs += 10 * 60_000 + 1
  expect(ask('TransactWriteItems', once)).toEqual({})
  expect(ask('GetItem', { TableName: 'keys', Key: KEY })).toEqual({ Item: { ...KEY, n: 2 } })
})

test('items expire at their time to live, unless that is no number, or longer ago than five years', () => {
  const second = NOW / 1000
  const times = { past: second - 1, now: second, future: second + 1, text: 'x', ancient: second - 6 * 366 * 86_400 }
  for (const [sk, expiresAt] of Object.entries(times))
    ask('PutItem', { TableName: 'keys', Item: { pk: 'p', sk, expiresAt } })
  engine.expire()
  expect(ask('Scan', { TableName: 'keys' })).toMatchObject({
    Items: ['ancient', 'future', 'text'].map((sk) => ({ sk })),
  })
  ask('UpdateTimeToLive', {
    TableName: 'keys',
    TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: false },
  })
  nowMs += 10_000
  engine.expire()
  expect(ask('Scan', { TableName: 'keys' })).toMatchObject({ Count: 3 })
})

test('an item has at most 400 KB, whether it is put or grows; a page at most a megabyte', () => {
  const big = 'x'.repeat(399 * 1024)
  const tooBig = { name: 'ValidationException', message: expect.stringContaining('exceeded the maximum allowed size') }
  const bigger = { ...KEY, a: `${big}${'x'.repeat(2048)}` }
  expect(ask('PutItem', { TableName: 'keys', Item: bigger })).toMatchObject(tooBig)
  expect(ask('PutItem', { TableName: 'keys', Item: { ...KEY, a: big } })).toEqual({})
  const double = { TableName: 'keys', Key: KEY, UpdateExpression: 'SET b = a' }
  expect(ask('UpdateItem', double)).toMatchObject(tooBig)
  for (const sk of ['1', '2', '3']) ask('PutItem', { TableName: 'keys', Item: { pk: 'p', sk, a: big } })
  const query = { TableName: 'keys', KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'p' } }
  expect(ask('Query', query)).toMatchObject({ Count: 3, LastEvaluatedKey: { pk: 'p', sk: '3' } })
})

test('a sum is exact, and has 38 digits at most', () => {
  const sum = (a: bigint, b: number) =>
    ask('UpdateItem', {
      TableName: 'keys',
      Key: KEY,
      UpdateExpression: 'SET n = :a + :b',
      ReturnValues: 'UPDATED_NEW',
      ExpressionAttributeValues: { ':a': a, ':b': b },
    })
  expect(sum(10n ** 37n, 3)).toEqual({ Attributes: { n: 10n ** 37n + 3n } })
  expect(sum(-(2n ** 53n), 2)).toEqual({ Attributes: { n: -(2 ** 53) + 2 } })
  const words = expect.stringContaining('38 significant digits')
  expect(sum(10n ** 38n - 1n, 2)).toMatchObject({ name: 'ValidationException', message: words })
})

test('a feature that it does not have is refused by its name', () => {
  expect(ask('ExecuteStatement', {})).toMatchObject({
    name: 'ValidationException',
    message: 'The local database does not support ExecuteStatement, which the gateway does not use',
  })
  const get = { TableName: 'keys', Key: KEY }
  const update = (UpdateExpression: string) => ({ ...get, UpdateExpression, ExpressionAttributeValues: { ':v': 1 } })
  for (const [operation, input, feature] of [
    ['GetItem', { ...get, AttributesToGet: ['a'] }, 'AttributesToGet'],
    ['Scan', { TableName: 'keys', Select: 'COUNT' }, 'Select'],
    ['UpdateItem', update('SET li = list_append(li, :v)'), 'the function list_append here'],
    ['UpdateItem', update('SET li[0] = :v'), 'paths into maps and lists'],
    ['GetItem', { ...get, ProjectionExpression: 'a, b.c' }, 'paths into maps and lists'],
    ['TransactGetItems', { TransactItems: [{ Get: get }] }, 'TransactGetItems'],
  ] as const) {
    expect(ask(operation, input)).toMatchObject({
      message: expect.stringContaining(`The local database does not support ${feature}, which`),
    })
  }
  expect(ask('GetItem', { TableName: 'nope', Key: KEY })).toMatchObject({ name: 'ResourceNotFoundException' })
})

test('an item takes its write units a second, also of failed conditions, twice in transactions, and by its size', () => {
  engine = new Engine({ clock: () => nowMs, unitsASecond: 4 })
  addTables(engine, TABLES)
  const failing = { ...addOne, ConditionExpression: 'n < :one' }
  ask('TransactWriteItems', transaction)
  engine.commit()
  expect([ask('UpdateItem', failing), ask('UpdateItem', addOne)]).toMatchObject([
    { name: 'ConditionalCheckFailedException' },
    {},
  ])
  expect(ask('UpdateItem', addOne)).toMatchObject({ name: 'ProvisionedThroughputExceededException' })
  expect(ask('TransactWriteItems', transaction)).toMatchObject({ name: 'TransactionCanceledException' })
  expect(ask('PutItem', { TableName: 'keys', Item: { pk: 'q', sk: 's', text: 'x'.repeat(3_000) } })).toEqual({})
  nowMs += 1_000
  const large = { ...addOne, Key: { pk: 'q', sk: 's' } }
  const names = Array.from({ length: 3 }, () => (ask('UpdateItem', large) as Error).name)
  expect(names).toEqual([undefined, undefined, 'ProvisionedThroughputExceededException'])
  expect(ask('UpdateItem', { ...addOne, ReturnValues: 'ALL_NEW' })).toEqual({ Attributes: { ...KEY, n: 3 } })
})
