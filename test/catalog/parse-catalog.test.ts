import { expect, test } from '@jest/globals'
import { parseCatalog } from '../../layers/catalog/parse-catalog.ts'

type Json = Record<string, unknown>

const good = () => ({
  providers: { up: { type: 'openai', baseUrl: 'https://api.example.test/v1', apiKey: 'env:KEY' } as Json },
  models: [
    {
      id: 'm',
      contextLength: 1000,
      maxOutputTokens: 100,
      price: { input: '0.15', output: '0.60' } as Json,
      routes: [{ provider: 'up', model: 'm1' } as Json],
    } as Json,
  ],
})
type Good = ReturnType<typeof good>

function faultsOf(change: (catalog: Good) => unknown): readonly string[] {
  const catalog = good()
  const changed = change(catalog)
  const parsed = parseCatalog(changed === undefined ? catalog : changed)
  return 'faults' in parsed ? parsed.faults : []
}
/** Puts a value at its path, such as models[0].id. */
function put(catalog: Json, path: string, value: unknown): void {
  const names = path.match(/\w+/g) ?? []
  const inner = names.slice(0, -1).reduce((at, name) => {
    at[name] ??= {}
    return at[name] as Json
  }, catalog)
  inner[names.at(-1) ?? ''] = value
}

test('a valid catalog is accepted with its defaults filled in', () => {
  expect(parseCatalog(good())).toEqual({
    catalog: {
      providers: { up: { type: 'openai', baseUrl: 'https://api.example.test/v1', apiKey: 'env:KEY' } },
      models: [
        {
          id: 'm',
          name: 'm',
          ownedBy: 'up',
          active: true,
          created: 0,
          contextLength: 1000,
          maxOutputTokens: 100,
          price: { input: '0.15', output: '0.60' },
          routes: [
            {
              provider: 'up',
              model: 'm1',
              priority: 0,
              weight: 1,
              firstByteTimeoutMs: 300_000,
              idleTimeoutMs: 60_000,
            },
          ],
        },
      ],
    },
  })
})

const embedder = () => ({
  id: 'e',
  kind: 'embedding',
  contextLength: 8_192,
  dimensions: 1_536,
  price: { input: '0.02' },
  routes: [{ provider: 'up', model: 'e1', cost: { input: '0.01' } }],
})

test('an embedding model has a price for its input only, and neither output nor a cap', () => {
  const catalog = good()
  catalog.models.push(embedder())
  const parsed = parseCatalog(catalog)
  expect(parsed).toMatchObject({
    catalog: {
      models: [
        {},
        {
          kind: 'embedding',
          dimensions: 1_536,
          maxOutputTokens: 0,
          price: { input: '0.02', output: '0' },
          routes: [{ cost: { input: '0.01', output: '0' } }],
        },
      ],
    },
  })
})

test.each<[string, string, object]>([
  ['a price for output', 'models[1].price.output', { price: { input: '1', output: '1' } }],
  ['an output cap', 'models[1].maxOutputTokens', { maxOutputTokens: 100 }],
  ['no dimensions', 'models[1].dimensions', { dimensions: undefined }],
  ['a fallback, whose vectors cannot be compared', 'models[1]', { fallback: ['m'] }],
  ['a kind that nobody knows', 'models[1].kind', { kind: 'image' }],
  ['a route to Anthropic', 'models[1].routes[0].provider', { routes: [{ provider: 'claude', model: 'x' }] }],
  [
    'a route to an unknown model of Bedrock',
    'models[1].routes[0].model',
    { routes: [{ provider: 'aws', model: 'x' }] },
  ],
])('an embedding model with %s is a fault at its path', (_, path, change) => {
  const faults = faultsOf((catalog) => {
    Object.assign(catalog.providers, {
      claude: { type: 'anthropic', baseUrl: 'https://api.anthropic.com/v1' },
      aws: { type: 'bedrock', region: 'us-east-1' },
    })
    catalog.models.push({ ...embedder(), ...change })
  })
  expect(faults).toHaveLength(1)
  expect(faults[0]).toMatch(new RegExp(`^${path.replaceAll(/[[\].]/g, '\\$&')}: `))
})

const MANTLE = 'https://bedrock-mantle.us-east-2.api.aws/openai/v1'
const signed = { type: 'openai', baseUrl: MANTLE, auth: 'sigv4', region: 'us-east-2' }

test.each<[string, object]>([
  ['Mantle', signed],
  ['the runtime', { ...signed, baseUrl: 'https://bedrock-runtime.us-east-2.amazonaws.com/openai/v1' }],
  ['Messages', { ...signed, type: 'anthropic', baseUrl: 'https://bedrock-mantle.us-east-2.api.aws/anthropic/v1' }],
  ['this machine', { ...signed, baseUrl: 'http://127.0.0.1:8080/v1' }],
])('a provider whose requests are signed may be at %s', (_, up) => {
  expect(faultsOf((catalog) => put(catalog, 'providers.up', up))).toEqual([])
})

test.each<[string, object, string]>([
  ['a key', { apiKey: 'secret:openai' }, 'apiKey: must be left out: with "auth": "sigv4"'],
  ['no region', { region: undefined }, 'region: is missing: with "auth": "sigv4"'],
  ['a region that is none', { region: 'Ohio' }, 'region: must be an AWS region such as us-east-1'],
  ['no signature', { auth: undefined }, 'region: is only for requests that are signed'],
  ['another signature', { auth: 'sigv3' }, 'auth: must be "sigv4"'],
  ['the host of another region', { region: 'us-west-2' }, 'baseUrl: must begin with https://bedrock-runtime.us-west-2'],
  ['a host that is not Bedrock', { baseUrl: 'https://api.openai.com/v1' }, 'baseUrl: must begin with https://bedrock-'],
  [
    'another service',
    { baseUrl: 'https://s3.us-east-2.amazonaws.com/v1' },
    'baseUrl: must begin with https://bedrock-',
  ],
  ['a header of a signature', { headers: { 'X-Amz-Date': 'x' } }, 'headers.X-Amz-Date: '],
])('a provider whose requests are signed, with %s, is a fault that says what to do', (_, change, fault) => {
  const faults = faultsOf((catalog) => put(catalog, 'providers.up', { ...signed, ...change }))
  expect(faults.join('; ')).toContain(`providers.up.${fault}`)
})

test('paidFallback names only models of fallback', () => {
  const faults = faultsOf((catalog) => put(catalog, 'models[0].paidFallback', ['m']))
  expect(faults).toEqual(["models[0].paidFallback[0]: 'm' is not in fallback"])
})

test('an embedding model is no fallback of a model that chats', () => {
  const faults = faultsOf((catalog) => {
    put(catalog, 'models[0].fallback', ['e'])
    catalog.models.push(embedder())
  })
  expect(faults).toEqual(["models[0].fallback[0]: the model 'e' has no words"])
})

test.each<[string, string, unknown]>([
  ['an unknown provider', 'models[0].routes[0].provider', 'nope'],
  ['a price that is a number', 'models[0].price.input', 0.15],
  ['a negative price', 'models[0].price.output', '-1'],
  ['a price with too many decimals', 'models[0].price.input', '0.0000001'],
  ['a model without routes', 'models[0].routes', []],
  ['a missing field', 'models[0].maxOutputTokens', undefined],
  ['a provider key in clear text', 'providers.up.apiKey', 'sk-123'],
  ['AWS credentials as a provider key', 'providers.up.apiKey', 'env:AWS_SESSION_TOKEN'],
  ['the gateway’s own secret as a provider key', 'providers.up.apiKey', 'env:Waybill_Origin_Secret'],
  ['plain http to another machine', 'providers.up.baseUrl', 'http://api.example.test/v1'],
  ['a base URL with a password', 'providers.up.baseUrl', 'https://u:p@api.example.test/v1'],
  ['a base URL that is a file', 'providers.up.baseUrl', 'file:///etc/passwd'],
  ['http to a name that only begins like loopback', 'providers.up.baseUrl', 'http://127.0.0.1.example.test/v1'],
  ['an unknown provider type', 'providers.up.type', 'carrier-pigeon'],
  ['a provider key among the headers', 'providers.up.headers.Authorization', 'x'],
  ['a provider that no table can keep', 'providers.constructor', good().providers.up],
  ['a header that no table can keep', 'providers.up.headers.constructor', 'x'],
  ['a name that clears the screen', 'models[0].name', 'a\u001b[2J'],
  ['an owner that turns the text round', 'models[0].ownedBy', 'a\u202eb'],
  ['a line end in the model of a route', 'models[0].routes[0].model', 'a\nb'],
  ['a base URL with a line end, which a URL loses', 'providers.up.baseUrl', 'https://api.exam\nple.test/v1'],
  ['a space in a model id', 'models[0].id', 'a b'],
  ['a negative timeout', 'models[0].routes[0].idleTimeoutMs', -1],
])('a catalog with %s is refused at %s', (_, path, value) => {
  const faults = faultsOf((catalog) => put(catalog, path, value))
  expect(faults.some((fault) => fault.startsWith(`${path}: `))).toBe(true)
})

test.each<[string, string, (catalog: Good) => unknown]>([
  ['a duplicate id', 'models[1].id', ({ models }) => void models.push({ ...models[0] })],
  ['a misspelt field', 'models[0]', (catalog) => put(catalog, 'models[0].contextLenght', 5)],
  ['a list in place of an object', 'catalog', () => []],
])('a catalog with %s is refused at %s', (_, path, change) => {
  expect(faultsOf(change).some((fault) => fault.startsWith(`${path}: `))).toBe(true)
})

test('a catalog may use plain http to this machine', () => {
  for (const baseUrl of ['http://127.0.0.1:1/v1', 'http://localhost:1/v1', 'http://[::1]:1/v1']) {
    expect(faultsOf((c) => put(c, 'providers.up.baseUrl', baseUrl))).toEqual([])
  }
})
