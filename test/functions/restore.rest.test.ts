import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AttributeValue, DynamoDBClient, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'
import { expect, test } from '@jest/globals'
import { openInstance } from '../../functions/instance.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import { parseSettings } from '../../infra/settings.ts'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { BRAND, ENV } from '../../layers/gateway/names.ts'
import { readConfig } from '../../layers/gateway/platform/config.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { createTables } from '../../layers/gateway/store/dynamodb/create-tables.ts'
import { LOCAL } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { actAt } from '../support/act.ts'
import { auditKey } from '../support/audit-key.ts'
import { booksOf, HELLO, openAllTables, postTo } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openApart, openBoth } from '../support/stack.ts'
import { beginAnswers, say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

/** Our own database, in the place of DynamoDB and its restores. */
const client = new DynamoDBClient({ ...LOCAL, endpoint: process.env.TEST_DYNAMODB ?? '' })

const asText = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
const bytesOf = (text: string) => Buffer.from(text, 'base64')
const asBytes = (name: string, value: unknown) => {
  if (name === 'BS' && Array.isArray(value)) return value.map(bytesOf)
  return name === 'B' && typeof value === 'string' ? bytesOf(value) : value
}

/** All items of a table in a file, as DynamoDB exports them. */
async function exportTable(TableName: string, file: string): Promise<void> {
  const lines: string[] = []
  for await (const { Items = [] } of paginateScan({ client, pageSize: 2 }, { TableName })) {
    lines.push(...Items.map((Item) => JSON.stringify({ Item }, asText)))
  }
  writeFileSync(file, lines.join('\n'))
}

async function importTable(file: string, TableName: string): Promise<number> {
  const items = readFileSync(file, 'utf8')
    .split('\n')
    .map((line): Record<string, AttributeValue> => JSON.parse(line, asBytes).Item)
  for (const Item of items) await client.send(new PutItemCommand({ TableName, Item }))
  return items.length
}

test('tables that are exported, imported under new names and named in the settings are the gateway again: its keys, balances, rows and catalog', async () => {
  const { gateway, upstream } = await openBoth()
  const [ann, bob] = [await gateway.issue(), await gateway.issue({ credits: '3' })]
  const asked = await gateway.ask({}, { secret: ann.secret })
  const finish = beginAnswers(upstream)
  const running = gateway.post(bob.secret, { ...HELLO, stream: true })
  await until(() => upstream.requests.length === 2)
  const folder = emptyFolder()
  const { keys, usage } = gateway.tables
  await exportTable(keys, join(folder, 'keys'))
  await exportTable(usage, join(folder, 'usage'))
  finish()
  await (await running).text()

  const named = { keys: `${keys}-restored`, usage: `${usage}-restored` }
  const { prod } = parseSettings(JSON.stringify({ prod: { tableNames: named } }), 'settings.json')
  const { tableNames } = prod ?? {}
  const config = readConfig({
    [ENV.keysTable]: tableNames?.keys,
    [ENV.usageTable]: tableNames?.usage,
    // Its stack makes a new one: no answer is in a copy.
    [ENV.answersTable]: `${gateway.tables.answers}-new`,
  })
  const tables = openAllTables(config)
  await createTables(tables)
  expect(await importTable(join(folder, 'keys'), tables.keys)).toBeGreaterThan(5)
  expect(await importTable(join(folder, 'usage'), tables.usage)).toBe(1)

  const books = booksOf(tables)
  expect(await books.readKey(ann.key.id)).toEqual(await gateway.readKey(ann.key.id))
  expect(await books.readRow(asked.row.requestId)).toEqual(asked.row)
  expect(await readStoredCatalog(tables)()).toEqual(await readStoredCatalog(gateway.tables)())
  // The request that ran when the copy was made is finished free of charge, by a sweep after its time.
  expect(Object.keys((await books.readKey(bob.key.id)).holds)).toHaveLength(1)
  await createSweep(openInstance({ config, tables, clock: () => Date.now() + 1_000_000, log: gateway.instance.log }))()
  const swept = await books.readKey(bob.key.id)
  expect([swept.holds, swept.spent, swept.available]).toEqual([{}, 0n, 3_000_000_000n])

  const { url } = await openApart(tables)
  const { secret: next, stored } = issueSecret(BRAND.keyPrefix, randomBytes)
  await rotateKey(tables)(ann.key.id, stored, actAt(), 0)
  upstream.reply = say('Hello')
  expect((await postTo(url, ann.secret, HELLO)).status).toBe(401)
  for (const secret of [next, bob.secret]) expect((await postTo(url, secret, HELLO)).status).toBe(200)
  for (const { key } of [ann, bob]) {
    const after = await books.readKey(key.id)
    expect(await auditKey(tables, after, Date.now())).toMatchObject({ findings: [], ok: true })
    expect(after.spent > 0n).toBe(true)
  }
})
