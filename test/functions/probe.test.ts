import { createServer, type ServerResponse } from 'node:http'
import { beforeEach, expect, test } from '@jest/globals'
import { createProbe } from '../../functions/probe/create.ts'
import type { Scope } from '../../layers/gateway/endpoints.ts'
import { secretFetcher } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { queryUsageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import { secretFor, startSecretsManager } from '../deployed/support/secrets-manager.ts'
import { actAt } from '../support/act.ts'
import { catalogFor } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { closeAfterwards, openFor, openServer } from '../support/stack.ts'

const KEY = `svc_live_${'A'.repeat(43)}`
const NAME = 'waybill/prod/probe'
const secrets: Record<string, string> = {}
const gateway = await openFor(catalogFor('http://127.0.0.1:9/v1'))
const manager = closeAfterwards(await startSecretsManager(secrets))
Object.assign(process.env, {
  AWS_ENDPOINT_URL_SECRETS_MANAGER: manager.endpoint,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
})
let answer = (_: ServerResponse): unknown => undefined
let calls = 0
let connections = 0
/** A gateway that is not well. */
const origin = await openServer(
  (_, response) => {
    calls += 1
    answer(response)
  },
  () => {
    connections += 1
  },
)
const sick = `${origin}/v1`
beforeEach(() => {
  calls = 0
  connections = 0
  delete secrets[NAME]
})

const probe = (baseUrl: string, timeoutMs?: number) =>
  createProbe({ stage: 'prod', baseUrl }, secretFetcher(), timeoutMs)()

/** The message of a probe that fails. It never has the key in it. */
async function failure(baseUrl: string, timeoutMs?: number): Promise<string> {
  const error: Error = await probe(baseUrl, timeoutMs).then(
    () => new Error('It did not fail.'),
    (thrown) => thrown,
  )
  expect(`${error.stack} ${error.cause}`).not.toContain(KEY)
  return error.message
}

async function keyWith(scopes: readonly Scope[]) {
  const baseUrl = `${gateway.baseUrl}/v1`
  const { key, secret } = await gateway.issue({ scopes, credits: '0' })
  secrets[NAME] = secretFor(baseUrl, secret)
  return { key, baseUrl }
}

test('a probe lists the models with a key that may do nothing else and has no credits, and leaves one free row', async () => {
  const { key, baseUrl } = await keyWith(['models.read'])
  const fromMs = Date.now()
  expect(await probe(baseUrl)).toEqual({ models: 1 })
  const rows = await Array.fromAsync(queryUsageRows(gateway.tables)(key.id, { fromMs, toMs: Date.now() + 1 }))
  expect(rows).toMatchObject([{ endpoint: 'models', outcome: 'completed', httpStatus: 200, cost: 0n }])
})

test('a probe with a revoked key fails with the 401 that a client gets', async () => {
  const { key, baseUrl } = await keyWith(['models.read'])
  await revokeKey(gateway.tables)(key.id, actAt())
  expect(await failure(baseUrl)).toMatch(/answered with 401 \(req_\w{26}\), not with a list of models\.$/)
})

test('a probe with a key of another scope fails with the 403 that a client gets', async () => {
  expect(await failure((await keyWith(['chat.completions'])).baseUrl)).toContain('answered with 403 (req_')
})

const json = (status: number, body: unknown) => (response: ServerResponse) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))

test.each([
  ['500', json(500, { error: {} }), '500'],
  ['a list with another status', json(203, { object: 'list', data: [] }), '203'],
  ['a page', (response: ServerResponse) => response.end('<html>'), '200'],
  ['null', json(200, null), '200'],
  ['a list without data', json(200, { object: 'list' }), '200'],
  ['another object', json(200, { object: 'model', data: [] }), '200'],
  ['the key itself', json(200, { key: KEY }), '200'],
  [
    'the key as its request id',
    (response: ServerResponse) => response.writeHead(500, { 'X-Request-Id': KEY }).end(),
    '500',
  ],
  ['a redirect', (response: ServerResponse) => response.writeHead(302, { Location: '/v1/models' }).end(), '302'],
])('a probe that is answered with %s fails, and says the status', async (_, answered, status) => {
  secrets[NAME] = secretFor(sick, KEY)
  answer = answered
  expect(await failure(sick)).toBe(`GET ${sick}/models was answered with ${status}, not with a list of models.`)
  expect(calls).toBe(1)
})

test.each([
  ['no answer', () => undefined],
  ['half an answer', (response: ServerResponse) => response.writeHead(200).write('{"object": "list",')],
])('a probe that gets %s in its time fails, and says so', async (_, answered) => {
  secrets[NAME] = secretFor(sick, KEY)
  answer = answered
  expect(await failure(sick, 200)).toBe(
    `GET ${sick}/models was not answered within 200 ms: The operation was aborted due to timeout`,
  )
  expect(calls).toBe(1)
})

test('a probe of a gateway that is down fails, and says why nothing could be sent', async () => {
  const { url: down, ...other } = await listen(createServer())
  await other[Symbol.asyncDispose]()
  secrets[NAME] = secretFor(down, KEY)
  expect(await failure(down)).toContain('connect ECONNREFUSED 127.0.0.1')
})

test('every probe makes a connection of its own, so that none is one that has died while the function was frozen', async () => {
  secrets[NAME] = secretFor(sick, KEY)
  answer = json(200, { object: 'list', data: [{}] })
  const run = createProbe({ stage: 'prod', baseUrl: sick }, secretFetcher())
  for (const _ of 'abc') expect(await run()).toEqual({ models: 1 })
  expect(connections).toBe(3)
})

test('a probe without its secret fails, and says which is missing', async () => {
  expect(await failure(sick)).toBe(`There is no secret ${NAME}: docs/deploy.md has the commands that make it.`)
  expect(calls).toBe(0)
})

test.each([
  ['is for another host', secretFor('https://other.example.com/v1', KEY), 'does not name 127.0.0.1'],
  ['is a bare key', KEY, 'is not a JSON object with "key" and "hosts"'],
])('a probe whose secret %s fails, and sends it nowhere', async (_, secret, says) => {
  secrets[NAME] = secret
  expect(await failure(sick)).toContain(`The secret ${NAME} ${says}`)
  expect(calls).toBe(0)
})
