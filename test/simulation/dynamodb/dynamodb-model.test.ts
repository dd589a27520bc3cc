import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { expect, test } from '@jest/globals'
import { TABLES } from '../../../layers/gateway/names.ts'
import { DynamoModel } from './dynamodb-model.ts'

test('the simulator’s database keeps its own copy of every item that it is given or returns', () => {
  const model = new DynamoModel({ keys: TABLES.keys })
  const Key = { pk: 'p', sk: 's' }
  const stored = {
    ...Key,
    map: { list: [1, { deep: 2n ** 60n }] },
    bytes: Uint8Array.of(1),
    set: new Set([Uint8Array.of(1)]),
  }
  const added = new Set([Uint8Array.of(2)])
  const given = structuredClone(stored)
  model.execute(new PutCommand({ TableName: 'keys', Item: given }))
  spoil(given)
  const updated = model.execute(
    new UpdateCommand({
      TableName: 'keys',
      Key,
      UpdateExpression: 'SET more = :more REMOVE nothing ADD #set :added',
      ExpressionAttributeNames: { '#set': 'set' },
      ExpressionAttributeValues: { ':more': 1, ':added': added },
      ReturnValues: 'ALL_NEW',
    }),
  )
  spoilSet(added)
  spoil(updated.Attributes as typeof stored)
  spoil(itemOfRefusedPut(model, Key) as typeof stored)
  spoil(model.execute(new GetCommand({ TableName: 'keys', Key })).Item as typeof stored)
  expect(model.item('keys', Key)).toEqual({
    ...stored,
    more: 1,
    set: new Set([Uint8Array.of(1), Uint8Array.of(2)]),
  })
})

function itemOfRefusedPut(model: DynamoModel, Key: Record<string, string>): unknown {
  try {
    return model.execute(
      new PutCommand({
        TableName: 'keys',
        Item: Key,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
  } catch (error) {
    return unmarshall((error as ConditionalCheckFailedException).Item ?? {})
  }
}

type Spoilable = { map: { list: unknown[] }; bytes: Uint8Array; set: Set<Uint8Array> }

function spoil({ map, bytes, set }: Spoilable): void {
  Object.assign(map.list[1] as object, { deep: 'spoilt' })
  map.list.push('spoilt')
  Object.assign(map, { spoilt: true })
  bytes[0] = 255
  spoilSet(set)
}

function spoilSet(set: Set<Uint8Array>): void {
  for (const element of set) element[0] = 255
  set.add(Uint8Array.of(254))
}
