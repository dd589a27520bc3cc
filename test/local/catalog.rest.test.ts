import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { readVariable } from '../../layers/gateway/platform/config.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { paintFor } from '../../layers/terminal/terminal.ts'
import { humanLog } from '../../local/human-log.ts'
import { catalogInForce, checkedCatalog } from '../../local/local-catalog.ts'
import { actAt } from '../support/act.ts'
import { waybill } from '../support/command-line.ts'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import { catalogFor, HELLO, openTestTables } from '../support/gateway.ts'
import { emptyFolder, startLocal } from '../support/processes.ts'
import { openUpstream } from '../support/stack.ts'
import { say, startUpstream } from '../support/upstream.ts'

const honest = await openUpstream(say('Hello'))
const thief = await openUpstream(say('Thanks for the key'))

const write = (tables: Tables, catalog: unknown) => writeCatalog(tables)(catalog as CatalogData, actAt())

describe('the local table', () => {
  const good = catalogFor('https://api.example.test/v1')
  const [model] = good.models

  test.each<[string, unknown, string]>([
    ['sends a request over plain http', withProvider('http://evil.example.test/v1'), 'providers.up.baseUrl'],
    [
      'names AWS credentials',
      withProvider('https://x.example.test/v1', 'env:AWS_SECRET_ACCESS_KEY'),
      'providers.up.apiKey',
    ],
    ['lacks a price', { ...good, models: [{ ...model, price: undefined }] }, 'models[0].price'],
    ['is not a catalog', 'x', 'catalog'],
  ])(
    'a stored catalog that %s is refused: the last good one stays in force and the log says why',
    async (_, bad, path) => {
      const tables = await openTestTables()
      const lines: string[] = []
      const loaded = { data: good, version: (await write(tables, good)).version, pushedAt: '' }
      const read = checkedCatalog(
        readStoredCatalog(tables),
        loaded,
        humanLog((line) => lines.push(line), paintFor(process.stdout)),
      )
      await write(tables, bad)
      expect(await read()).toEqual(loaded)
      expect(lines).toEqual([
        expect.stringContaining('the catalog in the table is not valid, so the last good one stays in force'),
      ])
      expect(lines[0]).toContain(path)

      const better = { ...good, models: [{ ...model, id: 'better' }] }
      await write(tables, better)
      expect(await read()).toMatchObject({ data: better, version: 3 })
      await write(tables, bad)
      expect(await read()).toMatchObject({ data: better, version: 3 })
    },
  )

  function withProvider(baseUrl: string, apiKey?: string) {
    return { ...good, providers: { up: { type: 'openai', baseUrl, ...(apiKey && { apiKey }) } } }
  }
})

const NO_ECHO = { url: 'http://127.0.0.1:1/v1', formerUrl: undefined, close: () => {} }

test.each([
  ['waybill start', false],
  ['npm start', false],
  ['ada', true],
])('a catalog that was put in force by %s is an operator’s: %s', async (by, isOperators) => {
  const tables = await openTestTables()
  const data = catalogFor('https://api.example.test/v1')
  await writeCatalog(tables)(data, actAt(Date.now(), by))
  const file = { data: catalogFor('https://other.example.test/v1'), source: undefined }
  expect(await catalogInForce(tables, file, NO_ECHO)).toMatchObject({ isOperators })
})

test('a running local gateway takes a push of a catalog with an embedding model, which can be tested and rolled back to', async () => {
  await using upstream = await startUpstream()
  upstream.reply = embed()
  const folder = emptyFolder()
  const { local, child, ended } = await startLocal(folder)
  const command = (...args: string[]) => waybill(folder, [...args, '--local'])
  const push = (catalog: CatalogData) => {
    const file = join(folder, 'pushed.json')
    writeFileSync(file, JSON.stringify(catalog))
    return command('catalog', 'push', file)
  }
  const models = async () => {
    const headers = { Authorization: `Bearer ${local.demoKey}` }
    const answer = await fetch(`${local.baseUrl}/v1/models`, { headers })
    return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  expect(await push(embeddingCatalog([upstream.url]))).toMatchObject({ code: 0 })
  expect(await models()).toContain('test-embedding')
  expect((await command('routes', 'test', 'test-embedding')).stdout).toMatch(/^test-embedding .* ok$/m)
  expect(await push(catalogFor(upstream.url))).toMatchObject({ code: 0 })
  expect(await command('catalog', 'rollback', '2')).toMatchObject({ code: 0 })
  child.kill('SIGINT')
  await ended
})

describe('provider keys in the environment', () => {
  const apiKey = 'env:TEST_LOCAL_KEY'
  const env = { TEST_LOCAL_KEY: 'sk-of-the-file', TEST_OTHER_KEY: 'sk-of-nobody' }

  /** A catalog with a model for each provider, of the same name. */
  function catalogOf(providers: Record<string, { baseUrl: string; apiKey: string }>) {
    const [model] = catalogFor(honest.url).models
    return {
      providers: mapValues(providers, (provider) => ({ type: 'openai', ...provider })),
      models: Object.keys(providers).map((id) => ({ ...model, id, routes: [{ provider: id, model: id }] })),
    }
  }

  test('a provider key goes only where the file that npm start loaded sends it, whatever the table says', async () => {
    const folder = emptyFolder()
    const file = join(folder, 'catalog.json')
    writeFileSync(file, JSON.stringify(catalogOf({ named: { baseUrl: honest.url, apiKey } })))
    const { local, output, child, ended } = await startLocal(folder, { WAYBILL_CATALOG: file, ...env })
    const pushed = join(folder, 'pushed.json')
    const catalog = catalogOf({
      named: { baseUrl: honest.url, apiKey },
      moved: { baseUrl: thief.url, apiKey },
      unnamed: { baseUrl: honest.url, apiKey: 'env:TEST_OTHER_KEY' },
      elsewhere: { baseUrl: honest.url, apiKey: 'secret:openai' },
    })
    writeFileSync(pushed, JSON.stringify(catalog))
    expect((await waybill(folder, ['catalog', 'push', pushed, '--local'])).code).toBe(0)
    const headers = { Authorization: `Bearer ${local.demoKey}`, 'Content-Type': 'application/json' }
    const ask = async (model: string) => {
      const body = JSON.stringify({ ...HELLO, model })
      return (await fetch(`${local.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).status
    }
    expect(await Promise.all(['named', 'moved', 'unnamed', 'elsewhere'].map(ask))).toEqual([200, 502, 502, 502])
    const refused = [
      `does not send ${apiKey} to ${new URL(thief.url).origin}`,
      `does not send env:TEST_OTHER_KEY to ${new URL(honest.url).origin}`,
      'secret:openai is for a stage in AWS',
    ]
    for (const reason of refused) expect(output.stdout).toContain(reason)

    const tested = await waybill(folder, ['routes', 'test', '--local'], env)
    for (const reason of refused) expect(tested.stdout).toContain(reason)
    expect(tested.stdout).toMatch(/^named .* ok$/m)

    expect(thief.requests).toEqual([])
    const sent = honest.requests.map((request) => request.headers.authorization)
    expect(sent).toEqual(['Bearer sk-of-the-file', 'Bearer sk-of-the-file'])
    child.kill('SIGINT')
    await ended
  })

  test.each(['AWS_SECRET_ACCESS_KEY', 'aws_session_token', 'WAYBILL_ORIGIN_SECRET'])(
    'the variable %s is never used as a provider key, even if a file says so',
    (name) => {
      expect(readVariable(name, { [name]: 'ours' })).toBeUndefined()
      expect(readVariable('OPENAI_API_KEY', { OPENAI_API_KEY: 'theirs' })).toBe('theirs')
    },
  )
})

function mapValues<A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
