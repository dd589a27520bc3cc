import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { List } from '../../layers/admin/api/shapes/answers.ts'
import type { EventShape } from '../../layers/admin/api/shapes/books.ts'
import type { CatalogVersionShape } from '../../layers/admin/api/shapes/catalog.ts'
import type { KeyDetail } from '../../layers/admin/api/shapes/keys.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { emptyFolder } from '../support/processes.ts'
import { CALLER } from '../support/signed-admin.ts'
import { openBoth, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { commandsOn } from './support/commands.ts'

jest.setTimeout(60_000)

const UP = 'https://up.example/v1'
const folder = emptyFolder()
let gateway: TestGateway
let stage: Stage

beforeAll(async () => {
  gateway = (await openBoth()).gateway
  stage = await openStage(gateway.tables, gateway.baseUrl)
})

const { shown, json, list, refused } = commandsOn((args) => stage.waybill([...args, '--stage', 'dev']))
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

  test('an external id that another key has is refused by name, when a key is made and when it is changed', async () => {
    const [first, second] = [await create('--external-id', 'cus_taken'), await create()]
    const complaint = `The external id 'cus_taken' is that of the key ${first.id}.`
    expect(await refused('keys', 'create', '--name', 'x', '--external-id', 'cus_taken')).toContain(complaint)
    expect(await refused('keys', 'update', second.id, '--external-id', 'cus_taken')).toContain(complaint)
  })

  test.each([
    ['an external id with a space', '--external-id', 'a b', 'without spaces'],
    ['an external id of 129 characters', '--external-id', 'x'.repeat(129), '1 to 128'],
    ['an external id beyond ASCII', '--external-id', 'naïve', 'of ASCII'],
    ['a note of 201 characters', '--note', 'x'.repeat(201), 'at most 200 characters'],
    ['a note that would steer a terminal', '--note', 'a\u001b[2Jb', 'on one line'],
    ['an end in words', '--expires', 'tomorrow', "a period such as 30d, or 'never'"],
    ['an end on a day that is none', '--expires', '2999-02-30', 'a UTC day such as'],
    ['an end that is over', '--expires', '2020-01-01', 'later than now, but 2020-01-01T00:00:00.000Z is not'],
    ['an end at once', '--expires', '0d', 'must be later than now'],
  ])('waybill keys create refuses %s, and says what to write', async (_, option, value, complaint) => {
    expect(await refused('keys', 'create', '--name', 'x', option, value)).toContain(complaint)
  })
})

test('waybill keys show and list say when a key was used last, and keys show of its old secret, too', async () => {
  const { id, secret } = await create('--credits', '1')
  const rowOf = async () => (await shown('keys', 'list')).split('\n').find((line) => line.startsWith(id))
  expect(await shown('keys', 'show', id)).toMatch(/^last used +never$/m)
  expect(await rowOf()).toMatch(/ never$/)
  await shown('keys', 'rotate', id)
  expect(await shown('keys', 'show', id)).toMatch(/^old secret +….{4} valid until .*, not used since the rotation$/m)
  expect((await gateway.post(secret, HELLO)).status).toBe(200)
  const text = await shown('keys', 'show', id)
  expect(text).toMatch(/^old secret .*, last used less than a minute ago$/m)
  expect(text).toMatch(/^last used +less than a minute ago$/m)
  expect(await rowOf()).toMatch(/ less than a minute ago$/)
  const key = await json<KeyDetail>('keys', 'show', id)
  expect(key.last_used_at).toEqual(expect.any(String))
  expect(key.previous?.last_used_at).toBe(key.last_used_at)
})

describe('waybill events list', () => {
  test('has every change of a key, newest first, with the caller’s ARN, and no secret', async () => {
    const { id, secret } = await create('--credits', '2')
    await shown('keys', 'update', id, '--rpm', '120')
    await shown('keys', 'grant', id, '3')
    const rotated = await json<{ secret: string }>('keys', 'rotate', id)
    await shown('keys', 'revoke', id)
    const events = await list<EventShape>('events', 'list', '--key', id)
    expect(events.map(({ what }) => what)).toEqual([
      'key.revoked',
      'key.rotated',
      'key.granted',
      'key.updated',
      'key.created',
    ])
    expect(new Set(events.map(({ by, key_id }) => `${by} ${key_id}`))).toEqual(new Set([`${CALLER} ${id}`]))
    expect(events[3]).toMatchObject({ before: { rpm: 60 }, after: { rpm: 120 } })
    for (const text of [secret, rotated.secret]) expect(JSON.stringify(events)).not.toContain(text)
    const table = await shown('events', 'list', '--key', id)
    expect(table).toMatch(new RegExp(`^\\S+Z +${CALLER} +key.updated +${id} +rpm 60 → 120$`, 'm'))
  })

  test('goes on after the last event of a list, and ends with --limit', async () => {
    await create()
    const whole = await list('events', 'list')
    const first = await json<List<EventShape>>('events', 'list', '--limit', '2')
    expect([first.data.length, first.has_more]).toEqual([2, true])
    const rest = await list('events', 'list', '--after', first.last_id ?? '', '--limit', '10000')
    expect([...first.data, ...rest].slice(0, whole.length)).toEqual(whole)
  })

  test('refuses what is no place in a list, an unknown key, and two kinds at once', async () => {
    expect(await refused('events', 'list', '--after', 'x')).toContain("'after' must be the last_id of the list before")
    expect(await refused('events', 'list', '--key', 'key_nope')).toContain("There is no key 'key_nope'")
    expect(await refused('events', 'list', '--key', 'key_1', '--catalog')).toContain(
      'Choose one of --key and --catalog',
    )
  })
})

describe('versions of the catalog', () => {
  const push = async (model: object) => {
    const file = join(folder, 'catalog.json')
    writeFileSync(file, JSON.stringify(catalogFor(UP, model)))
    const { stdout } = await stage.waybill(['catalog', 'push', file, '--json', '--stage', 'dev'])
    return (JSON.parse(stdout) as { version: number }).version
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
    const rolled = await stage.waybill(['catalog', 'rollback', `${first}`, '--json', '--stage', 'dev'])
    expect(JSON.parse(rolled.stdout)).toMatchObject({ version: second + 1, changes: ['~ model a: output 0.80 → 0.60'] })
    expect(await json('catalog', 'show')).toMatchObject({
      version: second + 1,
      catalog: { models: [{ price: { output: '0.60' } }] },
    })
    expect(await shown('catalog', 'diff', `${first}`)).toContain(`${second + 1} nothing changed.`)
    const [event] = await list<EventShape>('events', 'list', '--catalog', '--limit', '1')
    expect(event).toMatchObject({
      what: 'catalog.rolled_back',
      by: CALLER,
      after: { version: second + 1, content_of: first },
    })
  })

  test('waybill catalog show has any version, and the one that was in force at a moment; versions lists them', async () => {
    const version = await push(dear)
    const [newest] = await list<CatalogVersionShape>('catalog', 'versions')
    await push(cheap)
    expect(await json('catalog', 'show', '--version', `${version}`)).toMatchObject({ version, by: CALLER })
    expect(await json('catalog', 'show', '--at', newest?.pushed_at ?? '')).toMatchObject({ version })
    expect(await refused('catalog', 'show', '--at', '2020-01-01')).toContain('No version of the catalog is known')
    const listed = await list<CatalogVersionShape>('catalog', 'versions')
    expect(listed.map((one) => one.version)).toEqual(Array.from({ length: version + 1 }, (_, i) => version + 1 - i))
    expect(await shown('catalog', 'versions')).toContain(CALLER)
  })

  test('waybill catalog rollback makes the checks of a push, and refuses the version in force and unknown ones', async () => {
    const version = await push(cheap)
    expect(await refused('catalog', 'rollback', `${version}`)).toContain(
      `Version ${version} of the catalog is in force.`,
    )
    expect(await refused('catalog', 'rollback', '999')).toContain('There is no version 999 of the catalog')
    expect(await refused('catalog', 'rollback', 'last')).toContain("'last' is not a version of the catalog")
    await push({ ...cheap, id: 'b' })
    const key = { TableName: gateway.tables.keys, Key: { pk: 'VERSIONS', sk: String(version).padStart(16, '0') } }
    await gateway.tables.database.update({
      ...key,
      UpdateExpression: 'SET #catalog.providers.up.apiKey = :key',
      ExpressionAttributeNames: { '#catalog': 'catalog' },
      ExpressionAttributeValues: { ':key': 'env:MY_KEY' },
    })
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
