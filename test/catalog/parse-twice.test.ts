import { expect, test } from '@jest/globals'
import { catalogSchema } from '../../layers/catalog/catalog-schema.ts'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'
import { Random } from '../simulation/random.ts'

/** The value that a table returns for the one that was put into it. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function expectSame(given: unknown): void {
  const first = parseCatalog(given)
  expect(first).toEqual({ catalog: expect.anything() })
  expect(parseCatalog(stored('catalog' in first && first.catalog))).toEqual(first)
}

test('a random catalog of every field and both kinds, read from the table again, is valid and the same', () => {
  const schema = stored(catalogSchema()) as Schema
  const kinds = new Set<unknown>()
  const fields = new Set<string>()
  for (let seed = 1; seed <= 600; seed++) {
    const given = make(schema, new Random(seed), '') as Made
    if ('faults' in parseCatalog(given)) continue
    expectSame(given)
    for (const [name, value] of allFields(given)) {
      fields.add(name)
      if (name === 'kind') kinds.add(value)
    }
  }
  expect(kinds).toEqual(new Set(['chat', 'embedding']))
  expect(fields).toEqual(new Set(namesIn(schema)))
})

type Schema = {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
}
type Made = { readonly providers: object; readonly models: readonly object[] }

/** A text that a field without a pattern takes, and one for each pattern there is. */
const TEXTS = [
  'up',
  '0',
  '0.15',
  '12.5',
  'https://up.example/v1',
  'http://127.0.0.1:9/v1',
  'secret:up',
  'us-east-1',
  'X-Title',
]

/** Few names, so that references often meet what they name. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  provider: ['up'],
  id: ['up', 'X-Title'],
  fallback: ['up', 'X-Title'],
  model: ['amazon.titan-embed-text-v2:0', 'm'],
}

function make(schema: Schema, random: Random, name: string): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  if (schema.oneOf) return make(random.pick(schema.oneOf), random, name)
  if (schema.type === 'boolean') return random.chance(0.5)
  if (schema.type === 'integer') return random.pick([schema.minimum ?? 0, schema.maximum ?? 100])
  if (schema.type === 'array') return random.chance(0.9) ? [make(schema.items ?? {}, random, name)] : []
  if (schema.type === 'object') return makeObject(schema, random)
  return random.pick((NAMED[name] ?? TEXTS).filter((text) => new RegExp(schema.pattern ?? '').test(text)))
}

function makeObject({ properties, required = [], additionalProperties }: Schema, random: Random): object {
  if (!properties && typeof additionalProperties === 'object') return { up: make(additionalProperties, random, '') }
  const chosen = Object.entries(properties ?? {}).filter(([name]) => required.includes(name) || random.chance(0.5))
  return Object.fromEntries(chosen.map(([name, schema]) => [name, make(schema, random, name)]))
}

function* allFields(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    if (!Array.isArray(value) && name !== 'up') yield [name, field]
    yield* allFields(field)
  }
}

function namesIn(schema: Schema | boolean | undefined): string[] {
  if (typeof schema !== 'object') return []
  const { properties = {}, items, oneOf = [], additionalProperties } = schema
  return [
    ...Object.keys(properties),
    ...[...Object.values(properties), items, additionalProperties, ...oneOf].flatMap(namesIn),
  ]
}
