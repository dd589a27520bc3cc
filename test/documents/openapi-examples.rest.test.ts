import { afterAll, expect, test } from '@jest/globals'
import { CONTRACTS } from '../../cli/schemas/contracts.ts'
import type { Json } from '../../cli/schemas/json-schema.ts'
import { publicOpenApi } from '../../cli/schemas/public-openapi.ts'
import { NAMED_PARTS } from '../../cli/schemas/request-schema.ts'
import { startEcho } from '../../local/echo-upstream.ts'
import { catalogFor } from '../support/gateway.ts'
import { openFor } from '../support/stack.ts'
import { checkerOf, openApi, undescribed } from './support/openapi.ts'

const { schemas, ...components } = openApi.components
const CHAT = '/v1/chat/completions'
const HELLO = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }
const TOLD = { ...HELLO, user: 'customer-17', metadata: { team: 'search' } }

const echo = await startEcho()
const gateway = await openFor(catalogFor(echo.url, { id: 'echo' }))
const secret = (await gateway.issue({ dailyCredits: 5_000_000_000n, models: ['echo', 'claude-*'] })).secret
afterAll(() => echo.close())

test('docs/openapi.json is as `npm run schema` writes it', () => {
  expect(openApi).toEqual(JSON.parse(JSON.stringify(publicOpenApi())))
})

test('every property of ours, parameter and header of docs/openapi.json is described', () => {
  const requests = Object.values(CONTRACTS).map(({ names }) => names.request)
  const theirs = [...Object.keys(NAMED_PARTS), ...requests]
  const ours = Object.fromEntries(Object.entries(schemas).filter(([name]) => !theirs.includes(name)))
  expect(undescribed({ ...openApi, components: { ...components, schemas: ours } })).toEqual([])
})

test('every schema of a contract in docs/openapi.json has a link, and its request each field of the gateway’s table', () => {
  for (const { reference, names, fields, like } of Object.values(CONTRACTS)) {
    for (const name of Object.values(names)) expect(schemas[name]).toMatchObject({ externalDocs: { url: reference } })
    const { allOf: [, own] = [] } = schemas[names.request] as { allOf?: { properties: Record<string, Json> }[] }
    const { properties = {} } = schemas[CONTRACTS[like ?? '']?.names.request ?? names.request] as {
      properties?: object
    }
    const lacks = Object.entries(own?.properties ?? {}).flatMap(([name, { type }]) => (type === 'null' ? name : []))
    expect(Object.keys(properties).toSorted()).toEqual([...Object.keys(fields), ...lacks].toSorted())
  }
})

test.each([
  ['ModelList', '/v1/models', undefined],
  ['ApiKey', '/v1/key/introspect', undefined],
  ['UsageRecord', '/v1/usage/{id}', undefined],
  ['UsageSums', '/v1/usage?group=day', undefined],
  ['Credits', '/v1/credits', undefined],
  ['Quote', '/v1/quote', { endpoint: CHAT, body: HELLO }],
])('the example of %s is valid, and as the gateway answers %s', async (name, path, body) => {
  const [example] = (schemas[name] as { examples: unknown[] }).examples
  checkerOf({ $ref: `#/components/schemas/${name}` }).parse(example)
  const id = (await gateway.post(secret, TOLD)).headers.get('x-request-id') ?? ''
  const address = path.replace('{id}', id)
  const answer = await (body ? gateway.post(secret, body, {}, address) : gateway.get(secret, address))
  expect(shapeOf(await answer.json())).toEqual(shapeOf(example))
})

test.each(Object.entries(CONTRACTS))(
  'the example of a request to %s is valid, and is answered',
  async (path, { names, example }) => {
    expect(schemas[names.request]).toMatchObject({ examples: [example] })
    checkerOf({ $ref: `#/components/schemas/${names.request}` }).parse(example)
    if (path === '/v1/embeddings') return
    expect((await gateway.post(secret, example, {}, path)).status).toBe(200)
  },
)

/** The fields of a value and their types. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}
