import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { CatalogVersionShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { CALLER } from '../support/signed-admin.ts'
import { stageOfFile } from './support/commands.ts'

const UP = 'https://up.example/v1'
const folder = emptyFolder()
const { opened, shown, json, list, refused } = await stageOfFile()
const create = (...args: string[]) => json<{ id: string; secret: string }>('keys', 'create', '--name', 'acme', ...args)

describe('the fields of a key', () => {
  test('waybill keys create and update give a key an external id, an end and a note, and take them away', async () => {
    const made = await create('--external-id', 'cus_1', '--expires', '2999-01-01', '--note', ' pays monthly ')
    const fields = { external_id: 'cus_1', expires_at: '2999-01-01T00:00:00.000Z', note: 'pays monthly' }
    expect(made).toMatchObject(fields)
    expect(await list('keys', 'list', '--external-id', 'cus_1')).toMatchObject([{ id: made.id, ...fields }])
    expect(await list('keys', 'list', '--external-id', 'cus_none')).toEqual([])
    expect(await refused('keys', 'list', '--external-id', '')).toContain('1 to 128')
    const text = await shown('keys', 'show', made.id)
    expect(text).toMatch(/^external id +cus_1\nexpires +2999-01-01T00:00:00.000Z\nnote +pays monthly$/m)
    const cleared = await json('keys', 'update', made.id, '--external-id', '', '--expires', 'never', '--note', '')
    expect(cleared).toMatchObject({ external_id: null, expires_at: null, note: null })
    expect(await list('keys', 'list', '--external-id', 'cus_1')).toEqual([])
  })

  test('waybill keys create --expires takes a period, counted from now', async () => {
    const before = Date.now()
    const { expires_at } = await create('--expires', '30d').then((key) => json('keys', 'show', key.id))
    const ms = Date.parse(String(expires_at)) - 30 * 86_400_000
    expect(ms).toBeGreaterThanOrEqual(before)
    expect(ms).toBeLessThanOrEqual(Date.now())
  })

  test.each([
    ['an end in words', '--expires', 'tomorrow', "a period such as 30d, or 'never'"],
    ['an end that is over', '--expires', '2020-01-01', 'later than now, but 2020-01-01T00:00:00.000Z is not'],
    ['an end at once', '--expires', '0d', 'must be later than now'],
  ])('waybill keys create refuses %s, and says what to write', async (_, option, value, complaint) => {
    expect(await refused('keys', 'create', '--name', 'x', option, value)).toContain(complaint)
  })
})

test('waybill keys show and list say when a key was used last, and keys show of its old secret, too', async () => {
  const { id, secret } = await create('--credits', '1')
  const rowOf = async () => (await shown('keys', 'list', '--wide')).split('\n').find((line) => line.startsWith(id))
  expect(await shown('keys', 'show', id)).toMatch(/^last used +never$/m)
  expect(await rowOf()).toMatch(/ never /)
  await shown('keys', 'rotate', id)
  expect(await shown('keys', 'show', id)).toMatch(/^old secret +….{4} valid until .*, not used since the rotation$/m)
  expect((await opened.gateway.post(secret, HELLO)).status).toBe(200)
  const text = await shown('keys', 'show', id)
  expect(text).toMatch(/^old secret .*, last used less than a minute ago$/m)
  expect(text).toMatch(/^last used +less than a minute ago \(20\S+Z\)$/m)
  expect(await rowOf()).toMatch(/ 20\S+Z /)
})

test('waybill events list tells a change in words, and refuses an unknown key, and two kinds at once', async () => {
  const { id } = await create()
  await shown('keys', 'update', id, '--rpm', '120')
  const table = await shown('events', 'list', '--key', id, '--wide')
  expect(table).toMatch(new RegExp(`^\\S+Z +${CALLER} +key.updated +${id} +requests a minute 60 → 120 `, 'm'))
  expect(await refused('events', 'list', '--key', 'key_nope')).toContain("There is no key 'key_nope'")
  expect(await refused('events', 'list', '--key', 'key_1', '--catalog')).toContain(
    "option '--catalog' cannot be used with option '--key <key>'",
  )
})

describe('versions of the catalog', () => {
  const push = async (model: object) => {
    const file = join(folder, 'catalog.json')
    writeFileSync(file, JSON.stringify(catalogFor(UP, model)))
    return (await json<{ version: number }>('catalog', 'push', file)).version
  }
  const cheap = { id: 'a', price: { input: '1', output: '0.60' } }
  const dear = { id: 'a', price: { input: '1', output: '0.80' } }

  test('waybill catalog diff and rollback tell what changed in words, and bring an earlier version back as a new one', async () => {
    const [first, second] = [await push(cheap), await push(dear)]
    const words = '~ model a: output 0.60 → 0.80'
    expect(await shown('catalog', 'diff')).toBe(`From version ${first} to version ${second}:\n  ${words}\n`)
    expect(await json('catalog', 'diff', `${second}`, `${first}`)).toMatchObject({
      changes: ['~ model a: output 0.80 → 0.60'],
    })
    const rolled = await json('catalog', 'rollback', `${first}`)
    expect(rolled).toMatchObject({ version: second + 1, changes: ['~ model a: output 0.80 → 0.60'] })
    expect(await shown('catalog', 'diff', `${first}`)).toContain(`${second + 1} nothing changed.`)
    const [event] = await list<EventShape>('events', 'list', '--catalog', '--limit', '1')
    expect(event).toMatchObject({ what: 'catalog.rolled_back', by: CALLER })
  })

  test('waybill catalog show has any version, and the one that was in force at a moment; versions lists them', async () => {
    const version = await push(dear)
    const [newest] = await list<CatalogVersionShape>('catalog', 'versions')
    await push(cheap)
    expect(await json('catalog', 'show', '--version', `${version}`)).toMatchObject({ version, by: CALLER })
    expect(await json('catalog', 'show', '--at', newest?.pushed_at ?? '')).toMatchObject({ version })
    expect(await refused('catalog', 'show', '--version', 'x')).toContain('whole number')
    expect(await refused('catalog', 'show', '--at', '2020-01-01')).toContain('No version of the catalog is known')
    expect(await shown('catalog', 'versions', '--wide')).toContain(CALLER)
  })

  test('waybill catalog rollback makes the checks of a push, and refuses what is no version', async () => {
    const version = await push(cheap)
    expect(await refused('catalog', 'rollback', 'last')).toContain("'last' is not a version of the catalog")
    await push({ ...cheap, id: 'b' })
    const { keys: TableName, database } = opened.gateway.tables
    const Key = { pk: 'VERSIONS', sk: String(version).padStart(16, '0') }
    const { Item } = await database.get({ TableName, Key })
    const { catalog } = structuredClone(Item) as { catalog: CatalogData }
    Object.assign(catalog.providers.up ?? {}, { apiKey: 'env:MY_KEY' })
    await database.put({ TableName, Item: { ...Item, catalog } })
    expect(await refused('catalog', 'rollback', `${version}`)).toContain('a stage has its keys in Secrets Manager')
  })

  test('a catalog that is larger than DynamoDB keeps is refused with its size before anything is written', async () => {
    const models = Array.from({ length: 2_500 }, (_, i) => catalogFor(UP, { id: `model-${i}` }).models[0])
    const file = join(folder, 'large.json')
    writeFileSync(file, JSON.stringify({ ...catalogFor(UP), models }))
    const before = await json('catalog', 'show')
    expect(await refused('catalog', 'push', file)).toMatch(/^The catalog has \d+ KB, and at most 399 KB can be kept/)
    expect(await json('catalog', 'show')).toEqual(before)
  })
})
