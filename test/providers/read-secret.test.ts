import { beforeEach, describe, expect, test } from '@jest/globals'
import { testRoute } from '../../layers/admin/routes/test-routes.ts'
import { MINUTE_MS } from '../../layers/gateway/domain/basics/time.ts'
import { openCatalog, type PricedModel, type UpstreamRoute } from '../../layers/gateway/domain/routing/catalog.ts'
import { secretName } from '../../layers/gateway/names.ts'
import { secretFetcher } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import { readSecret } from '../../layers/gateway/providers/api-keys/read-secret.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { type Answer, openAwsService } from '../platform/aws/support/aws-service.ts'
import { catalogFor } from '../support/gateway.ts'
import { say, startUpstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const fail = (status: number, __type: string, message = ''): Answer => {
  return (response) => response.writeHead(status, JSON_TYPE).end(JSON.stringify({ __type, message }))
}
const JSON_TYPE = { 'Content-Type': 'application/x-amz-json-1.1' }
const normally: Answer = (response) => {
  const { SecretId } = JSON.parse(String(service.heard.at(-1)?.body)) as { SecretId: string }
  const SecretString = stored[SecretId]
  if (SecretString === undefined) return fail(400, 'ResourceNotFoundException')(response)
  return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ SecretString }))
}
const never: Answer = () => {}

const service = await openAwsService('SECRETS_MANAGER', normally)
let stored: Record<string, string> = {}
let problems: string[] = []
let nowMs = 0

const BASE_URL = 'https://api.openai.com/v1'
const secret = (key: string, hosts: unknown = ['api.openai.com']) => JSON.stringify({ key, hosts })

beforeEach(() => {
  problems = []
  stored = { 'waybill/dev/openai': `${secret('sk-one')}\n` }
})

const fetchSecret = secretFetcher()
const open = () => {
  const read = readSecret({
    fullName: (name) => secretName('dev', name),
    clock: () => nowMs,
    problem: (what, error) => problems.push(`${what}: ${(error as Error).name}`),
    // A server that never answers is given up sooner, to keep the test short.
    fetchSecret: (name) => fetchSecret(name, service.usual === never ? 100 : undefined),
  })
  return (name: string, baseUrl = BASE_URL) => read(name, baseUrl)
}

/** A reader that knows the secret's first value, which was replaced this long ago. */
async function openOld(ageMs: number) {
  const read = open()
  await read('openai')
  stored = { 'waybill/dev/openai': secret('sk-two') }
  nowMs += ageMs
  return read
}

test('a provider key is read from Secrets Manager by stage and name, without the line end that a shell leaves', async () => {
  expect(await open()('openai')).toBe('sk-one')
  expect(service.heard.map(({ body }) => String(body))).toEqual(['{"SecretId":"waybill/dev/openai"}'])
})

test('a provider key is read once in five minutes, and a new one is in use then', async () => {
  const read = await openOld(4 * MINUTE_MS - 1)
  expect(await read('openai')).toBe('sk-one')
  expect(service.heard).toHaveLength(1)
  nowMs += MINUTE_MS + 1
  expect(await read('openai')).toBe('sk-two')
  expect(service.heard).toHaveLength(2)
})

test('a provider key is refreshed before its five minutes are over, and no request waits for that', async () => {
  const read = await openOld(4 * MINUTE_MS)
  const held = Promise.withResolvers<void>()
  service.usual = (response) => held.promise.then(() => normally(response))
  expect(await read('openai')).toBe('sk-one')
  await until(() => service.heard.length === 2)
  expect(await read('openai')).toBe('sk-one')
  held.resolve()
  await until(async () => (await read('openai')) === 'sk-two')
  expect(service.heard).toHaveLength(2)
  expect(problems).toEqual([])
})

test('a provider key that does not exist is found as soon as it exists', async () => {
  const read = open()
  expect(await read('mistral')).toBeUndefined()
  stored = { 'waybill/dev/mistral': secret('ms-1') }
  expect(await read('mistral')).toBe('ms-1')
})

test.each([
  ['deleted', fail(400, 'ResourceNotFoundException')],
  [
    'marked for deletion',
    fail(
      400,
      'InvalidRequestException',
      "You can't perform this operation on the secret because it was marked for deletion.",
    ),
  ],
])('a provider key that was %s is forgotten', async (_, gone) => {
  const read = await openOld(5 * MINUTE_MS)
  service.usual = gone
  expect(await read('openai')).toBeUndefined()
  expect(await read('openai')).toBeUndefined()
  expect(problems).toEqual([])
})

test('a provider key that many requests need at once is read once', async () => {
  const read = open()
  expect(new Set(await Promise.all(Array.from({ length: 20 }, () => read('openai'))))).toEqual(new Set(['sk-one']))
  expect(service.heard).toHaveLength(1)
})

test('a provider key is read over a connection that is used again', async () => {
  await open()('openai')
  let connections = 0
  service.server.on('connection', () => (connections += 1))
  for (let i = 0; i < 5; i++) await open()('openai')
  expect(connections).toBe(0)
})

describe('the hosts of a secret', () => {
  const read = (hosts: unknown, baseUrl: string) => {
    stored = { 'waybill/dev/openai': secret('sk-one', hosts) }
    return open()('openai', baseUrl)
  }

  test.each([
    ['api.openai.com', 'https://api.openai.com/v1'],
    ['API.OpenAI.com', 'https://api.openai.com/v1'],
    ['api.openai.com:443', 'https://api.openai.com/v1'],
    ['api.openai.com', 'https://API.OPENAI.COM:443/v1'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/v1'],
    ['[::1]:8080', 'http://[::1]:8080/v1'],
    ['*.openai.azure.com', 'https://ours.openai.azure.com/openai/v1'],
    ['*.azure.com', 'https://ours.openai.azure.com/openai/v1'],
  ])('a secret for %s is sent to %s', async (host, baseUrl) => {
    expect(await read([host], baseUrl)).toBe('sk-one')
    expect(await read(['other.example', host], baseUrl)).toBe('sk-one')
  })

  test.each([
    ['api.openai.com', 'https://thief.example/v1'],
    ['api.openai.com', 'https://api.openai.com.thief.example/v1'],
    ['api.openai.com', 'https://thief.example/api.openai.com'],
    ['api.openai.com', 'https://eu.api.openai.com/v1'],
    ['api.openai.com', 'https://api.openai.com:8443/v1'],
    ['api.openai.com', 'https://api.openai.com./v1'],
    ['api.openai.com:8443', 'https://api.openai.com/v1'],
    ['*.openai.com', 'https://openai.com/v1'],
    ['*.openai.com', 'https://notopenai.com/v1'],
    ['*.openai.com', 'https://api.openai.com.thief.example/v1'],
    ['*.openai.com', 'https://api.openai.com:8443/v1'],
  ])('a secret for %s is not sent to %s, and the operator is told the host and the remedy', async (host, baseUrl) => {
    const failure = await read([host], baseUrl).catch((error) => error)
    const wanted = new URL(baseUrl).host
    expect(failure).toMatchObject({ name: 'UpstreamFailure', reason: 'credential' })
    expect(failure.message).toContain(`The secret waybill/dev/openai does not name ${wanted} in its "hosts"`)
    const remedy = `{"key": "THE KEY", "hosts": ["${wanted}"]}`
    expect(failure.message).toContain(
      `aws secretsmanager put-secret-value --secret-id waybill/dev/openai --secret-string '${remedy}'`,
    )
  })

  const KEY = 'sk-of-nobody-else'
  test.each([
    ['the bare key', KEY, 'is not a JSON object with "key" and "hosts"'],
    ['broken JSON', `{"key": "${KEY}", "hosts": [`, 'is not a JSON object'],
    ['a JSON text', JSON.stringify(KEY), 'is not a JSON object'],
    ['null', 'null', 'is not a JSON object'],
    ['another object', JSON.stringify({ OPENAI_API_KEY: KEY }), 'is not a JSON object with'],
    ['no hosts', JSON.stringify({ key: KEY }), 'has no "hosts"'],
    ['an empty list', secret(KEY, []), 'has no "hosts"'],
    ['21 hosts', secret(KEY, Array(21).fill('api.openai.com')), 'has no "hosts" with 1 to 20 host names'],
    ['one host without a list', secret(KEY, 'api.openai.com'), 'has no "hosts"'],
    ['a star', secret(KEY, ['*']), 'has in "hosts" at place 1'],
    ['a whole top-level domain', secret(KEY, ['api.openai.com', '*.com']), 'has in "hosts" at place 2'],
    ['a star in the middle', secret(KEY, ['api.*.com']), 'has in "hosts" at place 1'],
    ['an address with a path', secret(KEY, ['https://api.openai.com/v1']), 'has in "hosts" at place 1'],
    ['a host with a name', secret(KEY, ['api.openai.com@thief.example']), 'has in "hosts" at place 1'],
    ['the key among its hosts', secret(KEY, [`${KEY}/`]), 'has in "hosts" at place 1'],
    ['the key as a host', secret(KEY, [KEY]), 'does not name api.openai.com'],
    ['an empty key', secret(''), 'has no "key"'],
    ['a key with a line end', secret(`${KEY}\r\nX-Other: 1`), 'has no "key"'],
    ['a key that is no text', JSON.stringify({ key: { KEY }, hosts: ['api.openai.com'] }), 'has no "key"'],
  ])('a secret with %s is sent nowhere, and the operator is told why without a word of it', async (_, text, why) => {
    stored = { 'waybill/dev/openai': text }
    const failure = await open()('openai').catch((error) => error)
    expect(failure).toMatchObject({ name: 'UpstreamFailure', reason: 'credential' })
    expect(failure.cause).toBeUndefined()
    expect(failure.message).toContain(`The secret waybill/dev/openai ${why}`)
    expect(failure.message).toContain(`--secret-string '{"key": "THE KEY", "hosts": ["api.openai.com"]}'`)
    expect(failure.message).not.toContain(KEY)
  })

  test('an upstream that the secret does not name is sent nothing, and the test of its route says why', async () => {
    await using upstream = await startUpstream()
    upstream.reply = say('Thanks for the key')
    const tested = async () => {
      const catalog = openCatalog(catalogFor(upstream.url, {}, { apiKey: 'secret:openai' }), 1)
      const model = catalog.models.get('test-model') as PricedModel
      const provider = openProvider({ env: () => undefined, secret: open() })
      return testRoute(provider, catalog, model, model.routes[0] as UpstreamRoute)
    }
    const { host } = new URL(upstream.url)
    const { ok, result } = await tested()
    expect([ok, upstream.requests]).toEqual([false, []])
    expect(result).toContain(`credential: The secret waybill/dev/openai does not name ${host} in its "hosts"`)
    stored = { 'waybill/dev/openai': secret('sk-one', [host]) }
    expect(await tested()).toMatchObject({ ok: true })
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-one'])
  })

  test('a secret that lost its form is sent nowhere from then on, and is in use as soon as it is mended', async () => {
    const read = await openOld(5 * MINUTE_MS)
    stored = { 'waybill/dev/openai': 'sk-two' }
    await expect(read('openai')).rejects.toThrow('is not a JSON object')
    await expect(read('openai')).rejects.toThrow('is not a JSON object')
    stored = { 'waybill/dev/openai': secret('sk-three') }
    expect(await read('openai')).toBe('sk-three')
    expect(problems).toEqual([])
  })
})

describe('outages of Secrets Manager', () => {
  const AWAY: [string, Answer, string][] = [
    ['says nothing', never, 'TimeoutError'],
    ['refuses', fail(400, 'AccessDeniedException'), 'AccessDeniedException'],
    ['fails', fail(500, 'InternalServiceError'), ''],
    ['breaks the connection', (response) => response.destroy(), ''],
  ]

  test.each(AWAY)('the first read of a provider key ends within 3 seconds when Secrets Manager %s', async (_, away) => {
    service.usual = away
    const startedMs = performance.now()
    await expect(open()('openai')).rejects.toThrow()
    expect(performance.now() - startedMs).toBeLessThan(3_000)
  })

  test.each(AWAY)(
    'the last known provider key is used and the operator is told when Secrets Manager %s',
    async (_, away, reason) => {
      const read = await openOld(5 * MINUTE_MS)
      service.usual = away
      expect(await Promise.all([read('openai'), read('openai')])).toEqual(['sk-one', 'sk-one'])
      expect(problems).toEqual([
        expect.stringContaining("the secret 'openai' could not be read again, and its last value stays in use"),
      ])
      expect(problems[0]).toContain(reason)
    },
  )

  test('a failed read of a provider key is repeated after 30 seconds, and no request waits for it', async () => {
    const read = await openOld(5 * MINUTE_MS)
    service.usual = fail(400, 'AccessDeniedException')
    await read('openai')
    nowMs += 29_999
    for (let i = 0; i < 10; i++) expect(await read('openai')).toBe('sk-one')
    expect(service.heard).toHaveLength(2)
    nowMs += 1
    service.usual = never
    expect(await read('openai')).toBe('sk-one')
    expect(problems).toHaveLength(1)
    await until(() => problems.length === 2)
    service.usual = normally
    nowMs += 30_000
    await until(async () => (await read('openai')) === 'sk-two')
  })

  test('the last known provider key is used for an hour without Secrets Manager, and no longer', async () => {
    const read = await openOld(60 * MINUTE_MS - 1)
    service.usual = fail(400, 'AccessDeniedException')
    expect(await read('openai')).toBe('sk-one')
    nowMs += 1
    await expect(read('openai')).rejects.toThrow()
  })
})
