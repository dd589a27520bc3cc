import { readdirSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { readCatalogFile } from '../../cli/commands/read-catalog-file.ts'
import { priceWarnings } from '../../layers/admin/catalog/price-warnings.ts'
import { catalogSchema } from '../../layers/catalog/catalog-schema.ts'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { blocksOf, ROOT, readDocument, tableOf } from './support/markdown.ts'

const schema = JSON.parse(readDocument('catalog.schema.json'))
const checker = z.fromJSONSchema(schema)

const files = readdirSync(`${ROOT}examples`).filter((name) => name.endsWith('.json'))
const EXAMPLES = files.map((name) => `examples/${name}`)
const CATALOGS = [...EXAMPLES, 'local/catalog.json', 'infra/catalog.json']

test('catalog.schema.json is the file that `npm run schema` writes', () => {
  expect(schema).toEqual(JSON.parse(JSON.stringify(catalogSchema())))
})

test.each(CATALOGS)('the catalog %s is valid, and none of its prices is below cost', async (path) => {
  const catalog = await readCatalogFile(`${ROOT}${path}`, 'http://127.0.0.1/v1')
  // How cache writes without a price are charged is said, and nothing is wrong with it.
  expect(priceWarnings(catalog).filter((warning) => !warning.includes(': without a cacheWrite, '))).toEqual([])
})

test.each(CATALOGS)('the catalog %s names catalog.schema.json and fits it', (path) => {
  const catalog = JSON.parse(readDocument(path))
  expect(catalog.$schema).toBe('../catalog.schema.json')
  expect(checker.safeParse(catalog).error).toBeUndefined()
})

test('an example catalog for a stage has its keys in Secrets Manager, and one for this machine in variables', () => {
  const references = (path: string) => readDocument(path).match(/"(env|secret):[^"]+"/g) ?? []
  expect(EXAMPLES.toSorted()).toEqual([
    'examples/anthropic-and-bedrock.json',
    'examples/local-models.json',
    'examples/openai-with-fallback.json',
  ])
  expect(references('examples/anthropic-and-bedrock.json')).toEqual(['"secret:anthropic"'])
  expect(references('examples/openai-with-fallback.json')).toHaveLength(3)
  expect(references('examples/local-models.json')).toEqual(['"env:VLLM_API_KEY"'])
})

describe('the schema and the validator', () => {
  const example = JSON.parse(readDocument('examples/openai-with-fallback.json'))
  const [model] = example.models
  const routes = [{ provider: 'openai', model: 'e' }]
  const embedding = { id: 'e', kind: 'embedding', contextLength: 8_192, dimensions: 3, price: { input: '1' }, routes }
  const embedder = (change: object = {}) => ({ ...example, models: [{ ...embedding, ...change }] })
  const plainPrice = { input: '1', output: '1' }
  const withModel = (change: object) => ({ ...example, models: [{ ...model, ...change }] })
  const withProvider = (change: object) => ({
    ...example,
    providers: { ...example.providers, openai: { ...example.providers.openai, ...change } },
  })
  const price = (input: string, rest: object = {}) => withModel({ price: { input, output: '1', ...rest } })
  const tiersAbove = (...points: number[]) => ({
    tiers: points.map((above) => ({ ...plainPrice, above, cacheWrite1h: '2' })),
  })

  test.each([
    ['a price with six decimals', true, price('0.000001')],
    ['a price with seven decimals', false, price('0.0000001')],
    ['a price with a leading zero', false, price('01')],
    ['a price without a leading zero', false, price('.5')],
    ['a negative price', false, price('-1')],
    ['a request price with nine decimals', true, price('1', { request: '0.000000001' })],
    ['an image price with ten decimals', false, price('1', { image: '0.0000000001' })],
    ['four tiers', true, price('1', tiersAbove(1, 2, 3, 4))],
    ['five tiers', false, price('1', tiersAbove(1, 2, 3, 4, 5))],
    ['a tier above nothing', false, price('1', tiersAbove(0))],
    ['a tier with a request price', false, price('1', { tiers: [{ ...plainPrice, above: 1, request: '1' }] })],
    ['an embedding model with tiers', false, embedder({ price: { input: '1', ...tiersAbove(1) } })],
    ['an unknown field', false, withModel({ colour: 'red' })],
    ['a provider key in clear text', false, withProvider({ apiKey: 'sk-live-123' })],
    ['plain http to another machine', false, withProvider({ baseUrl: 'http://example.com/v1' })],
    ['plain http to this machine', true, withProvider({ baseUrl: 'http://localhost:1234/v1' })],
    ['a model of kind chat', true, withModel({ kind: 'chat' })],
    ['a chat model with dimensions', false, withModel({ dimensions: 3 })],
    ['an embedding model', true, embedder()],
    ['an embedding model with a price for output', false, embedder({ price: model.price })],
    ['an embedding model with a fallback', false, embedder({ fallback: [] })],
    ['a model without routes', false, withModel({ routes: [] })],
    ['a time-out above its bound', false, withModel({ routes: [{ ...model.routes[0], idleTimeoutMs: 840_001 }] })],
    ['a time-out at its bound', true, withModel({ routes: [{ ...model.routes[0], idleTimeoutMs: 840_000 }] })],
  ])('catalog.schema.json and the validator agree on %s', (_, isValid, catalog) => {
    expect('catalog' in parseCatalog(catalog)).toBe(isValid)
    expect(checker.safeParse(catalog).success).toBe(isValid)
  })
})

test('the catalogs shown in docs/catalog.md pass the validator', () => {
  const shown = blocksOf('docs/catalog.md', 'json').map((block) => parseCatalog(JSON.parse(block)))
  expect(shown).toEqual(Array(2).fill({ catalog: expect.anything() }))
})

test('docs/catalog.md names every field of a catalog with its default and its bounds', () => {
  const lines = readDocument('docs/catalog.md')
    .replaceAll(/(?<=\d),(?=\d)/g, '')
    .split('\n')
  const missing: string[] = []
  for (const { name, keywords } of fieldsOf(schema)) {
    const stated = [keywords.default, keywords.maximum, keywords.maxItems, keywords.maxLength]
    const wanted = stated.filter((value) => value !== undefined && value !== Number.MAX_SAFE_INTEGER)
    const rows = lines.filter((line) => line.startsWith(`| \`${name}\` |`))
    if (!rows.some((row) => wanted.every((value) => row.includes(String(value)))))
      missing.push(`${name} ${wanted.join(' ')}`)
  }
  expect(missing).toEqual([])
})

test('every field in catalog.schema.json has a description', () => {
  const bare = fieldsOf(schema).filter(({ keywords }) => !keywords.description)
  expect(bare.map(({ name }) => name)).toEqual([])
})

test('docs/catalog.md has a row for each type of provider, and names the types that have a field', () => {
  const providers: { properties: Record<string, { const?: string }> }[] =
    schema.properties.providers.additionalProperties.oneOf
  const all = providers.map(({ properties }) => properties.type?.const)
  expect(tableOf('docs/catalog.md', '| `type` | speaks | its key |').map(([type]) => type)).toEqual(all)

  const stated = tableOf('docs/catalog.md', '| field | of | default and bounds | meaning |')
  const typesWith = (name: string) => all.filter((_, i) => Object.hasOwn(providers[i]?.properties ?? {}, name))
  const fields = new Set(providers.flatMap(({ properties }) => Object.keys(properties)))
  expect(new Map(stated.map(([name, of]) => [name, of === 'all' ? all : of?.split(', ')]))).toEqual(
    new Map(Array.from(fields, (name) => [name, typesWith(name)])),
  )
})

type Keywords = { description?: string; default?: unknown; maximum?: number; maxItems?: number; maxLength?: number }
type Field = { readonly name: string; readonly keywords: Keywords }

function fieldsOf(node: unknown): Field[] {
  if (typeof node !== 'object' || node === null) return []
  const { properties = {}, ...rest } = node as { properties?: Record<string, Keywords> }
  return [
    ...Object.entries(properties).map(([name, keywords]) => ({ name, keywords })),
    ...Object.values(properties).flatMap(fieldsOf),
    ...Object.values(rest).flatMap(fieldsOf),
  ]
}
