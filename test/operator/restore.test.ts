import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DeleteTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, jest, test } from '@jest/globals'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { AuditShape } from '../../layers/admin/api/shapes/books.ts'
import { CATALOG_ITEM, SEEDED } from '../../layers/gateway/contract.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { createTables } from '../../layers/gateway/store/create-tables.ts'
import type { OperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { toJson } from '../../operator/backup/item-text.ts'
import { catalogFor, openTestTables, type TestGateway } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { openBoth, openFor, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

jest.setTimeout(60_000)

const folder = emptyFolder()
const BACKUP = join(folder, 'backup.jsonl')
let gateway: TestGateway
let stage: Stage
let secret = ''
let before: string[] = []

/** Every item of both tables, as DynamoDB writes it. */
async function itemsOf({ client, keys, usage }: OperatorTables): Promise<string[]> {
  const all = await Promise.all(
    [keys, usage].map((TableName) => client.send(new ScanCommand({ TableName, ConsistentRead: true }))),
  )
  return all.flatMap(({ Items = [] }) => Items.map((item) => JSON.stringify(toJson(item)))).sort()
}

const waybill = (on: Stage, ...args: string[]) => on.waybill([...args, '--stage', 'dev'])

async function ok(on: Stage, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await waybill(on, ...args)
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return stdout
}

async function refused(on: Stage, ...args: string[]): Promise<string> {
  const { code, stderr } = await waybill(on, ...args)
  expect({ args, code }).toEqual({ args, code: 1 })
  return stderr
}

/** Traffic, a secret in grace, a revoked key, credits beyond what a double counts, and a request that is under way. */
beforeAll(async () => {
  const { upstream, gateway: opened } = await openBoth()
  gateway = opened
  stage = await openStage(gateway.tables, gateway.baseUrl)
  const [busy, rich, gone] = [await gateway.issue(), await gateway.issue({ credits: '0' }), await gateway.issue()]
  secret = busy.secret
  const hello = { model: 'test-model', messages: [{ role: 'user', content: 'Hi' }] }
  for (let i = 0; i < 5; i++) expect((await gateway.post(secret, hello)).status).toBe(200)
  await ok(stage, 'keys', 'grant', rich.key.id, '900719925474099.123456789')
  await ok(stage, 'keys', 'rotate', rich.key.id)
  await ok(stage, 'keys', 'revoke', gone.key.id)
  const answer = Promise.withResolvers<void>()
  upstream.reply = async (...exchange) => {
    await answer.promise
    await say('Hello')(...exchange)
  }
  const underWay = gateway.post(secret, hello)
  await until(async () => Object.keys((await gateway.readKey(busy.key.id)).holds).length === 1)
  before = await itemsOf(gateway.tables)
  await ok(stage, 'backup', BACKUP)
  answer.resolve()
  await underWay
})

/** A stage that was deployed a moment ago: empty tables, and the catalog of the first deployment. */
async function newStage(): Promise<{ tables: OperatorTables; fresh: Stage }> {
  const tables = await openTestTables()
  const catalog = catalogFor('http://127.0.0.1:1', { id: 'seeded' })
  const seed = { ...CATALOG_ITEM, catalog, version: 1, pushedAt: SEEDED }
  await tables.client.send(new PutCommand({ TableName: tables.keys, Item: seed }))
  return { tables, fresh: await openStage(tables) }
}

test('the restore drill: with its tables lost, a stage has every item again, its books close and its keys work', async () => {
  const { client, keys, usage } = gateway.tables
  for (const TableName of [keys, usage]) await client.send(new DeleteTableCommand({ TableName }))
  await createTables(gateway.tables)
  expect(await itemsOf(gateway.tables)).toEqual([])
  expect(await ok(stage, 'restore', BACKUP)).toMatch(
    /^Restored: \d+ items of keys, grants and the catalog, and 5 usage/,
  )
  expect(await itemsOf(gateway.tables)).toEqual(before)
  const { data: audits } = JSON.parse(await ok(stage, 'audit', '--json')) as List<AuditShape>
  expect(audits.map(({ ok }) => ok)).toEqual([true, true, true])
  expect(audits.filter(({ held }) => held !== '0')).toHaveLength(1)
  expect(audits.map(({ granted }) => granted)).toContain('900719925474099.123456789')
  const restarted = await openFor(catalogFor('http://127.0.0.1:1'), { onSameTables: gateway })
  expect((await restarted.get(secret, '/v1/models')).status).toBe(200)
})

test('a new stage takes a backup with its catalog in place of the one that its deployment brought', async () => {
  const { tables, fresh } = await newStage()
  await ok(fresh, 'restore', BACKUP)
  expect(await itemsOf(tables)).toEqual(before)
  expect((await readStoredCatalog(tables)())?.data.models.map(({ id }) => id)).toEqual(['test-model'])
})

test('waybill backup reads tables that are not the stage’s by their names, such as restored or kept ones', async () => {
  const [kept, next] = [await newStage(), await newStage()]
  await ok(kept.fresh, 'restore', BACKUP)
  const file = join(folder, 'of-others.jsonl')
  const { keys, usage } = kept.tables
  await ok(next.fresh, 'backup', file, '--keys-table', keys, '--usage-table', usage)
  await ok(next.fresh, 'restore', file)
  expect(await itemsOf(next.tables)).toEqual(before)
})

test('a backup can be read by its owner only, and never replaces a file', async () => {
  expect(statSync(BACKUP).mode & 0o777).toBe(0o600)
  const text = readFileSync(BACKUP, 'utf8')
  expect(await refused(stage, 'backup', BACKUP)).toMatch(/There is a file .*backup\.jsonl already/)
  expect(readFileSync(BACKUP, 'utf8')).toBe(text)
  expect(text).not.toContain(secret)
})

test('waybill restore refuses tables that are not empty, and changes nothing', async () => {
  const { tables, fresh } = await newStage()
  await ok(fresh, 'keys', 'create', '--name', 'mine')
  const mine = await itemsOf(tables)
  expect(await refused(fresh, 'restore', BACKUP)).toMatch(/^The table keys-\w+ is not empty, so nothing was restored/)
  expect(await itemsOf(tables)).toEqual(mine)
})

test('waybill restore --resume goes on where a restore broke off, and never overwrites an item that differs', async () => {
  const { tables, fresh } = await newStage()
  await ok(fresh, 'restore', BACKUP)
  const [row] = (await tables.client.send(new ScanCommand({ TableName: tables.usage }))).Items ?? []
  await tables.client.send(new DeleteTableCommand({ TableName: tables.usage }))
  await createTables(tables)
  expect(await refused(fresh, 'restore', BACKUP)).toContain('is not empty')
  await ok(fresh, 'restore', BACKUP, '--resume')
  expect(await itemsOf(tables)).toEqual(before)

  const changed = { part: row?.part?.S, requestId: row?.requestId?.S, cost: 7 }
  await tables.client.send(new PutCommand({ TableName: tables.usage, Item: changed }))
  const now = await itemsOf(tables)
  expect(await refused(fresh, 'restore', BACKUP, '--resume')).toContain(
    `${changed.requestId} is in ${tables.usage} already`,
  )
  // Nothing but the note that keeps days from being closed.
  const halt = '{"part":{"S":"DAY#HALT"},"requestId":{"S":"DAY#HALT"}}'
  expect(await itemsOf(tables)).toEqual([...now, halt].sort())
})

test.each<[string, (lines: string[]) => string[], RegExp]>([
  ['that was cut off', (lines) => lines.slice(0, -2), /is not whole/],
  ['that lacks a line', (lines) => lines.toSpliced(3, 1), /is not whole/],
  [
    'with half a line',
    (lines) => lines.toSpliced(3, 1, lines[3]?.slice(0, 30) ?? ''),
    /Line 4 of .* is not of a backup/,
  ],
  ['that is another file', () => ['{"models":[]}'], /is not a backup of this version/],
  ['that is two', (lines) => [...lines.slice(0, -1), ...lines], /goes on after its end/],
])('waybill restore refuses a backup %s before it writes anything', async (name, change, complaint) => {
  const { tables, fresh } = await newStage()
  const seeded = await itemsOf(tables)
  const file = join(folder, `${name.replaceAll(' ', '-')}.jsonl`)
  writeFileSync(file, change(readFileSync(BACKUP, 'utf8').split('\n')).join('\n'))
  expect(await refused(fresh, 'restore', file)).toMatch(complaint)
  expect(await itemsOf(tables)).toEqual(seeded)
})

test('waybill restore says that a file is not there', async () => {
  expect(await refused(stage, 'restore', join(folder, 'none.jsonl'))).toMatch(/none\.jsonl cannot be read: ENOENT/)
})

test('waybill restore asks before it changes a protected stage', async () => {
  const { tables, fresh } = await newStage()
  const seeded = await itemsOf(tables)
  fresh.outputs = { ...fresh.outputs, Protected: 'true' }
  expect(await refused(fresh, 'restore', BACKUP)).toMatch(
    /restore \d+ items of keys.* and 5 usage rows into .*Add --yes/,
  )
  expect(await itemsOf(tables)).toEqual(seeded)
  await ok(fresh, 'restore', BACKUP, '--yes')
  expect(await itemsOf(tables)).toEqual(before)
})
