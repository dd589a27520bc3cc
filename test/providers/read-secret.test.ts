import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { secretName } from '../../layers/gateway/contract.ts'
import { fetchSecret } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import { readSecret } from '../../layers/gateway/providers/api-keys/read-secret.ts'
import { until } from '../support/wait.ts'

type Answer = (response: ServerResponse, secret: string | undefined) => void

const MINUTE_MS = 60_000

const fail = (status: number, __type: string, message = ''): Answer => {
  return (response) => void response.writeHead(status, JSON_TYPE).end(JSON.stringify({ __type, message }))
}
const JSON_TYPE = { 'Content-Type': 'application/x-amz-json-1.1' }
const normally: Answer = (response, SecretString) => {
  if (SecretString === undefined) fail(400, 'ResourceNotFoundException')(response, undefined)
  else response.writeHead(200, JSON_TYPE).end(JSON.stringify({ SecretString }))
}
const never: Answer = () => {}

let server: Server
let connections = 0
let asked: string[] = []
let stored: Record<string, string> = {}
let answer = normally
let problems: string[] = []
let nowMs = 0

/** Secrets Manager as far as GetSecretValue goes. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { SecretId } = JSON.parse(await text(request)) as { SecretId: string }
    asked.push(SecretId)
    answer(response, stored[SecretId])
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  })
})
beforeEach(() => {
  asked = []
  problems = []
  answer = normally
  stored = { 'waybill/dev/openai': 'sk-one\n' }
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const open = () =>
  readSecret({
    fullName: (name) => secretName('dev', name),
    clock: () => nowMs,
    problem: (what, error) => problems.push(`${what}: ${(error as Error).name}`),
    // A server that never answers is given up sooner, to keep the test short.
    fetchSecret: (name) => fetchSecret(name, answer === never ? 100 : undefined),
  })

/** A reader that knows the secret's first value, which was replaced this long ago. */
async function openOld(ageMs: number) {
  const read = open()
  await read('openai')
  stored = { 'waybill/dev/openai': 'sk-two' }
  nowMs += ageMs
  return read
}

test('a provider key is read from Secrets Manager by stage and name, without the line end that a shell leaves', async () => {
  expect(await open()('openai')).toBe('sk-one')
  expect(asked).toEqual(['waybill/dev/openai'])
})

test('a provider key is read once in five minutes, and a new one is in use then', async () => {
  const read = await openOld(4 * MINUTE_MS - 1)
  expect(await read('openai')).toBe('sk-one')
  expect(asked).toHaveLength(1)
  nowMs += MINUTE_MS + 1
  expect(await read('openai')).toBe('sk-two')
  expect(asked).toHaveLength(2)
})

test('a provider key is refreshed before its five minutes are over, and no request waits for that', async () => {
  const read = await openOld(4 * MINUTE_MS)
  const held = Promise.withResolvers<void>()
  answer = (response, secret) => void held.promise.then(() => normally(response, secret))
  expect(await read('openai')).toBe('sk-one')
  await until(() => asked.length === 2)
  expect(await read('openai')).toBe('sk-one')
  held.resolve()
  await until(async () => (await read('openai')) === 'sk-two')
  expect(asked).toHaveLength(2)
  expect(problems).toEqual([])
})

test('a provider key that does not exist is found as soon as it exists', async () => {
  const read = open()
  expect(await read('mistral')).toBeUndefined()
  stored = { 'waybill/dev/mistral': 'ms-1' }
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
  answer = gone
  expect(await read('openai')).toBeUndefined()
  expect(await read('openai')).toBeUndefined()
  expect(problems).toEqual([])
})

test('a provider key that many requests need at once is read once', async () => {
  const read = open()
  expect(new Set(await Promise.all(Array.from({ length: 20 }, () => read('openai'))))).toEqual(new Set(['sk-one']))
  expect(asked).toHaveLength(1)
})

test('a provider key is read over a connection that is used again', async () => {
  await open()('openai')
  const before = connections
  for (let i = 0; i < 5; i++) await open()('openai')
  expect(connections).toBe(before)
})

describe('outages of Secrets Manager', () => {
  const AWAY: [string, Answer, string][] = [
    ['says nothing', never, 'TimeoutError'],
    ['refuses', fail(400, 'AccessDeniedException'), 'AccessDeniedException'],
    ['fails', fail(500, 'InternalServiceError'), ''],
    ['breaks the connection', (response) => void response.destroy(), ''],
  ]

  test.each(AWAY)('the first read of a provider key ends within 3 seconds when Secrets Manager %s', async (_, away) => {
    answer = away
    const startedMs = performance.now()
    await expect(open()('openai')).rejects.toThrow()
    expect(performance.now() - startedMs).toBeLessThan(3_000)
  })

  test.each(AWAY)(
    'the last known provider key is used and the operator is told when Secrets Manager %s',
    async (_, away, reason) => {
      const read = await openOld(5 * MINUTE_MS)
      answer = away
      expect(await Promise.all([read('openai'), read('openai')])).toEqual(['sk-one', 'sk-one'])
      expect(problems).toEqual([
        expect.stringContaining("the secret 'openai' could not be read again, and its last value stays in use"),
      ])
      expect(problems[0]).toContain(reason)
    },
  )

  test('a failed read of a provider key is repeated after 30 seconds, and no request waits for it', async () => {
    const read = await openOld(5 * MINUTE_MS)
    answer = fail(400, 'AccessDeniedException')
    await read('openai')
    nowMs += 29_999
    for (let i = 0; i < 10; i++) expect(await read('openai')).toBe('sk-one')
    expect(asked).toHaveLength(2)
    nowMs += 1
    answer = never
    expect(await read('openai')).toBe('sk-one')
    expect(problems).toHaveLength(1)
    await until(() => problems.length === 2)
    answer = normally
    nowMs += 30_000
    await until(async () => (await read('openai')) === 'sk-two')
  })

  test('the last known provider key is used for an hour without Secrets Manager, and no longer', async () => {
    const read = await openOld(60 * MINUTE_MS - 1)
    answer = fail(400, 'AccessDeniedException')
    expect(await read('openai')).toBe('sk-one')
    nowMs += 1
    await expect(read('openai')).rejects.toThrow()
  })
})
