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
    // Only a stand-in that never answers uses up the whole bound.
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

describe('a provider’s key in Secrets Manager', () => {
  test('is read by its stage and name, without the line end that a shell leaves', async () => {
    expect(await open()('openai')).toBe('sk-one')
    expect(asked).toEqual(['waybill/dev/openai'])
  })

  test('is asked for once in five minutes, and a new one is in use then', async () => {
    const read = await openOld(4 * MINUTE_MS - 1)
    expect(await read('openai')).toBe('sk-one')
    expect(asked).toHaveLength(1)
    nowMs += MINUTE_MS + 1
    expect(await read('openai')).toBe('sk-two')
    expect(asked).toHaveLength(2)
  })

  test('is refreshed ahead of its five minutes, and no request waits for that', async () => {
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

  test('that does not exist is undefined, and is found as soon as it does', async () => {
    const read = open()
    expect(await read('mistral')).toBeUndefined()
    stored = { 'waybill/dev/mistral': 'ms-1' }
    expect(await read('mistral')).toBe('ms-1')
  })

  test.each([
    ['for good', fail(400, 'ResourceNotFoundException')],
    [
      'for the time being',
      fail(
        400,
        'InvalidRequestException',
        "You can't perform this operation on the secret because it was marked for deletion.",
      ),
    ],
  ])('that was deleted %s is forgotten', async (_, gone) => {
    const read = await openOld(5 * MINUTE_MS)
    answer = gone
    expect(await read('openai')).toBeUndefined()
    expect(await read('openai')).toBeUndefined()
    expect(problems).toEqual([])
  })

  test('is asked for once by many requests at once', async () => {
    const read = open()
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => read('openai'))))).toEqual(new Set(['sk-one']))
    expect(asked).toHaveLength(1)
  })

  test('is asked for over a connection that is used again', async () => {
    await open()('openai')
    const before = connections
    for (let i = 0; i < 5; i++) await open()('openai')
    expect(connections).toBe(before)
  })
})

describe('while Secrets Manager is away', () => {
  const AWAY: [string, Answer, string][] = [
    ['says nothing', never, 'TimeoutError'],
    ['refuses', fail(400, 'AccessDeniedException'), 'AccessDeniedException'],
    ['fails', fail(500, 'InternalServiceError'), ''],
    ['breaks the connection', (response) => void response.destroy(), ''],
  ]

  test.each(AWAY)('and %s, a first look-up ends within its bound', async (_, away) => {
    answer = away
    const startedMs = performance.now()
    await expect(open()('openai')).rejects.toThrow()
    expect(performance.now() - startedMs).toBeLessThan(3_000)
  })

  test.each(AWAY)('and %s, the last good value is used and the operator is told', async (_, away, reason) => {
    const read = await openOld(5 * MINUTE_MS)
    answer = away
    expect(await Promise.all([read('openai'), read('openai')])).toEqual(['sk-one', 'sk-one'])
    expect(problems).toEqual([
      expect.stringContaining("the secret 'openai' could not be read again, and its last value stays in use"),
    ])
    expect(problems[0]).toContain(reason)
  })

  test('it is asked again after a pause and not by every request, and no request waits', async () => {
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

  test('the last good value is used for an hour and no longer', async () => {
    const read = await openOld(60 * MINUTE_MS - 1)
    answer = fail(400, 'AccessDeniedException')
    expect(await read('openai')).toBe('sk-one')
    nowMs += 1
    await expect(read('openai')).rejects.toThrow()
  })
})
