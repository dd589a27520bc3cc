import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from '@jest/globals'
import { writeUnits } from '../../bench/bill/bill.ts'
import { createTables } from '../../layers/gateway/store/dynamodb/create-tables.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { testWithAmazon } from '../support/amazon.ts'
import { startDynamoDbLocal } from '../support/dynamodb-local.ts'
import { itemBytes, type RawItem } from '../support/item-bytes.ts'
import { sdkClient } from '../support/sdk-database.ts'

const ITEMS: readonly (readonly [what: string, item: RawItem, bytes: number])[] = [
  ['nothing', {}, 0],
  ['a string: the bytes of its name and of itself', { name: { S: 'demo' } }, 4 + 4],
  ['a string beyond ASCII: bytes, not characters', { é: { S: '😀' } }, 2 + 4],
  ['a number: a byte for two digits, and one', { n: { N: '12345' } }, 1 + 3 + 1],
  ['a number: zeroes at its end do not count', { n: { N: '1200000' } }, 1 + 1 + 1],
  ['zero', { n: { N: '0' } }, 1 + 1],
  ['a number below zero: a byte more', { n: { N: '-12' } }, 1 + 1 + 1 + 1],
  ['true and null', { yes: { BOOL: true }, none: { NULL: true } }, 3 + 1 + 4 + 1],
  ['bytes', { b: { B: new Uint8Array(20) } }, 1 + 20],
  ['an empty list', { list: { L: [] } }, 4 + 3],
  ['a list: one more for each element', { list: { L: [{ S: 'ab' }, { N: '7' }] } }, 4 + 3 + (1 + 2) + (1 + 2)],
  ['a map: one more for each member', { map: { M: { a: { S: 'bc' } } } }, 3 + 3 + (1 + 1 + 2)],
  ['a set of bytes: those of its elements', { openHolds: { BS: [new Uint8Array(21), new Uint8Array(20)] } }, 9 + 41],
]

test.each(ITEMS)('the size of an item follows DynamoDB’s rules for %s', (_, item, bytes) => {
  expect(itemBytes(item)).toBe(bytes)
})

test('a write is charged one write unit for each KB or part of one', () => {
  expect([1, 1_024, 1_025, 2_048, 2_049, 12_816].map(writeUnits)).toEqual([1, 1, 2, 2, 3, 13])
})

testWithAmazon('items cost the write units that DynamoDB Local says', async () => {
  await using stack = new AsyncDisposableStack()
  const amazon = await startDynamoDbLocal(stack)
  const [tables, client] = [openTables(LOCAL_TABLES, amazon), sdkClient(amazon)]
  await createTables(tables)
  for (const bytes of [1_023, 1_024, 1_025, 5_120, 5_121]) {
    const item = paddedTo(bytes, {
      id: { S: 'x' },
      holds: { M: { a: { N: '12' }, b: { L: [{ NULL: true }] } } },
      set: { BS: [new Uint8Array(21)] },
    })
    const write = new PutCommand({ TableName: tables.answers, Item: unmarshall(item), ReturnConsumedCapacity: 'TOTAL' })
    const { ConsumedCapacity } = await client.send(write)
    expect(ConsumedCapacity?.CapacityUnits).toBe(writeUnits(itemBytes(item)))
  }
})

function paddedTo(bytes: number, item: RawItem): Record<string, { S: string }> & RawItem {
  const padding = bytes - itemBytes(item) - 'padding'.length
  return { ...item, padding: { S: 'x'.repeat(padding) } } as Record<string, { S: string }>
}
