import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test } from '@jest/globals'
import { Random } from '../../simulation/random.ts'
import { openTestTables } from '../../support/gateway.ts'
import { randomAttributes } from './random-expressions.ts'
import { canonical } from './side-by-side.ts'

const ITEMS = 60

test("what the functions' own client or AWS's SDK writes, both read alike", async () => {
  const { client, database, keys: TableName } = await openTestTables()
  const random = new Random(1)
  for (let i = 0; i < ITEMS; i++) {
    const Item = { pk: 'p', ...randomAttributes(random) }
    const written = await Promise.allSettled([
      database.put({ TableName, Item: { ...Item, sk: 'own' } }),
      client.send(new PutCommand({ TableName, Item: { ...Item, sk: 'sdk' } })),
    ])
    const [own, sdk] = written.map(({ status }) => status)
    expect(own).toBe(sdk)
    const read = ['own', 'sdk'].map(async (sk) => {
      const Key = { pk: 'p', sk }
      const items = [await database.get({ TableName, Key }), await client.send(new GetCommand({ TableName, Key }))]
      return items.map((output) => canonical({ ...output.Item, sk: '' }))
    })
    expect(new Set((await Promise.all(read)).flat()).size).toBe(1)
  }
  client.destroy()
})

test('an empty set is refused before it is sent', async () => {
  const { client, database, keys: TableName } = await openTestTables()
  await expect(database.put({ TableName, Item: { pk: 'p', sk: 's', set: new Set() } })).rejects.toThrow('empty set')
  client.destroy()
})
