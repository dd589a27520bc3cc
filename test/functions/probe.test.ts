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
import { closeAfterwards, openFor, openServer, openUpstream } from '../support/stack.ts'

const KEY = `svc_live_${'A'.repeat(43)}`
const NAME = 'waybill/prod/probe'
const secrets: Record<string, string> = {}
const upstream = await openUpstream()
const { providers, models: cheap } = catalogFor(upstream.url)
/** It comes first, and is not the cheapest. */
const dear = catalogFor(upstream.url, { id: 'dear', price: { input: '9', output: '9' } }).models
const gateway = await openFor({ providers, models: [...dear, ...cheap] })
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

const probe = (apiUrl: string, timeoutMs?: number, baseUrl = apiUrl) =>
  createProbe({ stage: 'prod', baseUrl, apiUrl }, secretFetcher(), timeoutMs)()

/** The message of a probe that fails. It never has the key in it. */
async function failure(baseUrl: string, timeoutMs?: number): Promise<string> {
  const error: Error = await probe(baseUrl, timeoutMs).then(
    () => new Error('It did not fail.'),
    (thrown) => thrown,
  )
  expect(`${error.stack} ${error.cause}`).not.toContain(KEY)
  return error.message
}

const BOTH: readonly Scope[] = ['models.read', 'chat.completions']

async function keyWith(scopes: readonly Scope[], credits = '1') {
  const baseUrl = `${gateway.baseUrl}/v1`
  const { key, secret } = await gateway.issue({ scopes, credits })
  secrets[NAME] = secretFor(baseUrl, secret)
  return { key, baseUrl }
}

test('a probe gets a few tokens of the cheapest model, and leaves a free row and one of a small charge', async () => {
  const { key, baseUrl } = await keyWith(BOTH)
  const fromMs = Date.now()
  expect(await probe(baseUrl)).toEqual({ models: 2, asked: 'test-model' })
  expect(upstream.requests.at(-1)?.body).toMatchObject({ max_tokens: 16 })
  const rows = await Array.fromAsync(queryUsageRows(gateway.tables)(key.id, { fromMs, toMs: Date.now() + 1 }))
  const told = rows.map(({ endpoint, model, outcome, cost }) => [endpoint, model, outcome, cost > 0n])
  expect(told).toEqual([
    ['chat.completions', 'test-model', 'completed', true],
    ['models', undefined, 'completed', false],
  ])
})

test.each([
  [
    'a key of another scope',
    ['chat.completions'],
    '1',
    /^GET .+ was answered with 403 \(req_\w{26}\), not with a list of models\.$/,
  ],
  [
    'a key that may not chat',
    ['models.read'],
    '1',
    /^POST .+ was answered with 403 \(req_\w{26}\), not with an answer of 'test-model'\.$/,
  ],
  ['a key without credits', BOTH, '0', /answered with 402 \(req_/],
] as const)('a probe with %s fails with what a client gets', async (_, scopes, credits, says) => {
  expect(await failure((await keyWith(scopes, credits)).baseUrl)).toMatch(says)
})

test('a probe with a revoked key fails with the 401 that a client gets', async () => {
  const { key, baseUrl } = await keyWith(BOTH)
  await revokeKey(gateway.tables)(key.id, actAt())
  expect(await failure(baseUrl)).toMatch(/answered with 401 \(req_\w{26}\), not with a list of models\.$/)
})

test('a probe fails if the models are listed and none answers, and if none is for chats', async () => {
  const { baseUrl } = await keyWith(BOTH)
  upstream.reply = (response) => void response.writeHead(500).end('{}')
  expect(await failure(baseUrl)).toContain("not with an answer of 'test-model'")
  secrets[NAME] = secretFor(sick, KEY)
  answer = json(200, { object: 'list', data: [{ id: 'vectors', kind: 'embedding' }] })
  expect(await failure(sick)).toBe('The key of the probe may use no model that answers chats.')
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

test('every call of a probe makes a connection of its own, so that none is one that has died while the function was frozen', async () => {
  secrets[NAME] = secretFor(sick, KEY)
  const pricing = { prompt: '0', completion: '0' }
  const data = [{ id: 'm', kind: 'chat', pricing }]
  answer = (response) =>
    json(200, calls % 2 ? { object: 'list', data } : { object: 'chat.completion', choices: [] })(response)
  const run = createProbe({ stage: 'prod', baseUrl: sick, apiUrl: sick }, secretFetcher())
  for (const _ of 'abc') expect(await run()).toEqual({ models: 1, asked: 'm' })
  expect(connections).toBe(6)
})

test('without CloudFront chats have an address of their own, which the secret must name, too', async () => {
  const { baseUrl: apiUrl } = await keyWith(BOTH)
  const error = await probe(apiUrl, undefined, 'https://chat.example.com/v1').catch((thrown) => thrown)
  expect(error.message).toContain(`The secret ${NAME} does not name chat.example.com`)
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
