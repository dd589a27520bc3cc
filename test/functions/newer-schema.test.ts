import { expect, test } from '@jest/globals'
import { createClose } from '../../functions/close/create.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { CATALOG_HEAD, CATALOG_ITEM, SCHEMA_VERSION } from '../../layers/gateway/names.ts'
import { adminOf } from '../admin-api/support/admin.ts'
import { catalogFor, HELLO, openGateway } from '../support/gateway.ts'

const CATALOG = catalogFor('http://127.0.0.1:1')
const NEWER = 'schema is 2, and this one knows 1'

test('tables of a newer Waybill are served by no function: callers get a 503, operators and the log read why, and no key is written', async () => {
  await using written = await openGateway(CATALOG)
  const { secret, key } = await written.issue()
  const { database, keys } = written.tables
  for (const Key of [CATALOG_ITEM, CATALOG_HEAD]) {
    await database.update({
      ...{ TableName: keys, Key, UpdateExpression: 'SET schemaVersion = :newer' },
      ExpressionAttributeValues: { ':newer': SCHEMA_VERSION + 1 },
    })
  }
  await using gateway = await openGateway(CATALOG, { onSameTables: written })
  for (const call of [() => gateway.post(secret, HELLO), () => gateway.get(secret, '/v1/credits')]) {
    const answer = await call()
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    expect(gateway.logLines.splice(0).join()).toContain(NEWER)
  }
  for (const run of [createSweep(gateway.instance), createClose(gateway.instance)])
    await expect(run()).rejects.toThrow(NEWER)
  const admin = adminOf(gateway.tables)
  for (const route of ['GET /keys', 'POST /keys']) {
    const { status, body } = await admin.call(route, { body: { name: 'a' } })
    expect([status, body.error.message]).toEqual([503, expect.stringContaining(NEWER)])
  }
  expect(await written.readKey(key.id)).toEqual(key)
})
