import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { AuditShape } from '../../layers/admin/api/shapes/books.ts'
import type { CatalogShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { listGrants } from '../../layers/gateway/store/keys/grant-credits.ts'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { type SignedAdmin, startSignedAdmin } from '../support/signed-admin.ts'
import { openBoth, openStage } from '../support/stack.ts'
import { CALLER, type Stage } from '../support/stage.ts'

jest.setTimeout(60_000)

let gateway: TestGateway
let admin: SignedAdmin
let stage: Stage

beforeAll(async () => {
  gateway = (await openBoth()).gateway
  admin = await startSignedAdmin(gateway.tables, gateway.baseUrl)
  stage = await openStage(gateway.tables, gateway.baseUrl)
  stage.outputs = { ...stage.outputs, AdminUrl: admin.url }
})
afterAll(async () => {
  await admin[Symbol.asyncDispose]()
})
beforeEach(() => {
  admin.allows = () => true
  admin.lost = 0
})

/** An operator who may call the admin API, and to whom the tables are out of reach. */
const run = (args: readonly string[]) =>
  stage.waybill([...args, '--stage', 'dev'], { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' })

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await run([...args, '--json'])
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

const statusOf = async (secret: string | null) => (await gateway.get(secret ?? '', '/v1/models')).status

test('an operator who may only call the admin API of a stage does all that has a route there by the command line', async () => {
  const made = await json<KeyWithSecret>('keys', 'create', '--name', 'acme', '--credits', '2')
  const { id } = made
  await (await gateway.post(made.secret ?? '', HELLO)).text()
  for (const args of [
    ['keys', 'list'],
    ['keys', 'show', id],
    ['keys', 'update', id, '--rpm', '120'],
    ['keys', 'grant', id, '1'],
    ['events', 'list', '--key', id],
    ['usage', 'list', '--key', id],
    ['usage', 'summary', '--by', 'day'],
    ['catalog', 'show'],
    ['catalog', 'versions'],
    ['routes', 'list'],
  ]) {
    expect(await json(...args)).toEqual(expect.objectContaining({ object: expect.any(String) }))
  }
  const exported = await run(['usage', 'export', '--from', '2026-01-01', '--key', id])
  expect([exported.code, JSON.parse(exported.stdout)]).toEqual([0, expect.objectContaining({ key_id: id })])
  const file = join(emptyFolder(), 'catalog.json')
  writeFileSync(file, JSON.stringify(catalogFor('https://up.example/v1', { id: 'other' })))
  const pushed = await json<CatalogShape>('catalog', 'push', file)
  expect(pushed).toMatchObject({ by: CALLER, catalog: { models: [{ id: 'other' }] } })
  await json('catalog', 'rollback', String(pushed.version - 1))
  const { secret } = await json<KeyWithSecret>('keys', 'rotate', id)
  await json('keys', 'end-grace', id)
  expect([await statusOf(made.secret), await statusOf(secret)]).toEqual([401, 200])
  await json('keys', 'revoke', id)
  expect(await statusOf(secret)).toBe(401)
  expect(admin.asked.every(({ isSigned }) => isSigned)).toBe(true)
  for (const one of [made.secret, secret]) expect(JSON.stringify(admin.asked)).not.toContain(String(one).slice(9, 40))
})

test('an audit of all keys goes through the admin API of a stage key by key, and proves every one', async () => {
  await Promise.all([gateway.issue(), gateway.issue()])
  const ended = await run(['audit', '--json'])
  const audits = JSON.parse(ended.stdout) as List<AuditShape>
  const ids = (await Array.fromAsync(listKeys(gateway.tables)())).map(({ id }) => id)
  expect([ended.code, audits.data.map(({ key_id }) => key_id).sort()]).toEqual([0, ids.sort()])
})

test.each([1, 2, 4])(
  'a key, a rotation and a grant whose answers a stage loses %d times are done once',
  async (lost) => {
    admin.lost = lost
    const { id, secret } = await json<KeyWithSecret>('keys', 'create', '--name', `lost ${lost}`, '--credits', '1')
    expect(await statusOf(secret)).toBe(200)
    admin.lost = lost
    expect(await json<KeyWithSecret>('keys', 'rotate', id)).toMatchObject({ version: 2 })
    admin.lost = lost
    expect(await json('keys', 'grant', id, '2')).toMatchObject({ key: { granted: '3' } })
    expect(await Array.fromAsync(listGrants(gateway.tables)(id))).toHaveLength(2)
  },
)

test('a new secret is shown and marked if a stage loses every answer, and nobody is told that it was not made', async () => {
  admin.lost = 99
  const { code, stdout } = await run(['keys', 'create', '--name', 'unsure', '--json'])
  const { secret, saved } = JSON.parse(stdout)
  expect([code, saved, await statusOf(secret)]).toEqual([1, 'unknown', 200])
})

test('who may not call a route is told which policy that takes, and nothing is changed', async () => {
  const { key } = await gateway.issue()
  admin.allows = (method) => method === 'GET'
  const { code, stdout, stderr } = await run(['keys', 'rotate', key.id])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/OperatorPolicy/)
  expect((await gateway.readKey(key.id)).version).toBe(key.version)
})
