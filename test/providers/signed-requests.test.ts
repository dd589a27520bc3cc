import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { beforeEach, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import type { OpenAiEntry } from '../../layers/gateway/domain/routing/catalog.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { signAsRole } from '../../layers/gateway/providers/http/sign-as-role.ts'
import { bearer } from '../../layers/gateway/providers/http-upstream.ts'
import { type Signed, signatureOf } from '../support/aws-signature.ts'
import { embed } from '../support/embeddings.ts'
import { openFor, openServer } from '../support/stack.ts'
import { type Reply, say, status } from '../support/upstream.ts'
import { saying as sayAnthropic } from './anthropic/anthropic-fixtures.ts'
import { saying as sayResponse } from './responses/responses-upstream.ts'

const ROLE = {
  accessKeyId: 'ASIAEXAMPLE0000ROLE',
  secretAccessKey: 'not-a-secret',
  sessionToken: 'not/a+session=token',
}
const RENEWED = { accessKeyId: 'ASIAEXAMPLE0000NEXT', secretAccessKey: 'not-yet', sessionToken: 'another-token' }

function assume({ accessKeyId, secretAccessKey, sessionToken }: typeof ROLE): void {
  process.env.AWS_ACCESS_KEY_ID = accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = secretAccessKey
  process.env.AWS_SESSION_TOKEN = sessionToken
}

const ANSWERS: Readonly<Record<string, Reply>> = {
  '/openai/v1/chat/completions': say('Hello'),
  '/openai/v1/responses': sayResponse('Hello'),
  '/openai/v1/embeddings': embed(),
  '/anthropic/v1/messages': sayAnthropic('Hello'),
  '/anthropic/v1/messages/count_tokens': status(200, { input_tokens: 7 }),
}

type Heard = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly signed: Signed | undefined
}

let current = ROLE
let answer: Reply | undefined
const heard: Heard[] = []
const url = await openServer(async (request, response) => {
  const { url: path = '', headers } = request
  const bytes = await buffer(request)
  heard.push({ path, headers, signed: await signatureOf(request, bytes, current) })
  const reply = answer ?? ANSWERS[path] ?? status(404, {})
  await reply(response, { headers, body: JSON.parse(String(bytes)), connection: undefined, atMs: Date.now() })
})

const SIGNED = { auth: 'sigv4', region: 'us-west-2' }
const providers = {
  chat: { type: 'openai', baseUrl: `${url}/openai/v1`, ...SIGNED },
  responses: { type: 'openai', contract: 'responses', baseUrl: `${url}/openai/v1`, ...SIGNED },
  anthropic: { type: 'anthropic', baseUrl: `${url}/anthropic/v1`, ...SIGNED },
}
const models = Object.keys(providers).map((id) => ({
  id,
  contextLength: 100_000,
  maxOutputTokens: 100,
  price: { input: '1', output: '2' },
  routes: [{ provider: id, model: `openai.${id}` }],
}))
const vectors = { kind: 'embedding', contextLength: 8_192, dimensions: 4, price: { input: '1' } }
const gateway = await openFor(
  requireCatalog({
    providers,
    models: [...models, { id: 'vectors', ...vectors, routes: [{ provider: 'chat', model: 'amazon.embed' }] }],
  }),
)

beforeEach(() => {
  heard.length = 0
  answer = undefined
  current = ROLE
  assume(ROLE)
})

const BODY = { messages: [{ role: 'user', content: 'Grüße, 世界' }], max_tokens: 50 }

test.each([
  ['chat', { ...BODY, stream: false }],
  ['chat', { ...BODY, stream: true }],
  ['responses', { ...BODY, stream: false }],
  ['responses', { ...BODY, stream: true }],
  ['anthropic', { ...BODY, stream: false }],
  ['anthropic', { ...BODY, stream: true }],
] as const)(
  'a request to %s at Bedrock is signed as the role, with its session, and no other key',
  async (model, body) => {
    const asked = await gateway.ask({ model, ...body })
    expect({ status: asked.status, text: asked.text }).toEqual({ status: 200, text: expect.stringMatching(/Hel.*lo/s) })
    expect(heard).toHaveLength(1)
    const [{ headers, signed } = {}] = heard
    const names = ['content-type', 'host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']
    expect(signed).toMatchObject({ service: 'bedrock', region: 'us-west-2', headers: names })
    expect(Math.abs((signed?.atMs ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-amz-security-token': ROLE.sessionToken })
    expect(headers).not.toHaveProperty('x-api-key')
  },
)

test('embeddings and counts of tokens at Bedrock are signed, too', async () => {
  const { secret } = await gateway.issue({ credits: '1000', scopes: SCOPES })
  const paths = ['/v1/embeddings', '/v1/messages/count_tokens'] as const
  const bodies = [
    { model: 'vectors', input: 'Hello' },
    { model: 'anthropic', messages: BODY.messages },
  ]
  for (const [i, path] of paths.entries()) {
    const response = await gateway.post(secret, JSON.stringify(bodies[i]), {}, path)
    expect({ path, status: response.status, text: await response.text() }).toMatchObject({ path, status: 200 })
  }
  expect(heard.map(({ path }) => path)).toEqual(['/openai/v1/embeddings', '/anthropic/v1/messages/count_tokens'])
  expect(heard.map(({ signed }) => signed?.service)).toEqual(['bedrock', 'bedrock'])
})

test('renewed credentials of the role sign the next request', async () => {
  current = RENEWED
  assume(RENEWED)
  expect((await gateway.ask({ model: 'responses', ...BODY })).status).toBe(200)
  expect(heard[0]?.signed).toBeDefined()
})

test('without credentials a request is sent nowhere and is a 502, and the row says why', async () => {
  process.env.AWS_ACCESS_KEY_ID = ''
  const { status, row, text } = await gateway.ask({ model: 'chat', ...BODY })
  expect({ status, attempts: row.attempts }).toMatchObject({ status: 502, attempts: [{ result: 'credential' }] })
  expect(gateway.logLines.join('\n')).toContain('AWS_ACCESS_KEY_ID is not set')
  expect(text).not.toContain('AWS_')
  expect(heard).toEqual([])
})

test('no error, log line or row tells a credential that Bedrock quotes', async () => {
  const { accessKeyId, sessionToken } = ROLE
  const message = `The canonical request was x-amz-security-token:${sessionToken} for ${accessKeyId}`
  for (const code of [400, 403]) {
    answer = status(code, { error: { message, code: sessionToken, type: accessKeyId } })
    const { text, row } = await gateway.ask({ model: 'responses', ...BODY })
    const told = `${text} ${JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`
    for (const secret of Object.values(ROLE)) expect(told + gateway.logLines.join()).not.toContain(secret)
  }
})

const entryAt = (baseUrl: string, region = 'us-west-2'): OpenAiEntry => ({
  type: 'openai',
  baseUrl,
  auth: 'sigv4',
  region,
})
const NOW_MS = Date.parse('2026-11-19T12:00:00Z')
const sign = (entry: OpenAiEntry, path = '/responses') =>
  signAsRole('up', entry, { url: new URL(entry.baseUrl + path), body: '{}', keyHeader: bearer }, () => NOW_MS)

test.each([
  ['https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1', 'bedrock'],
  ['https://bedrock-mantle.us-west-2.api.aws/openai/v1', 'bedrock-mantle'],
])('%s is asked in the name of %s', async (baseUrl, service) => {
  const { headers: list, secret } = sign(entryAt(baseUrl))
  const pairs = Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]])
  const headers = { ...Object.fromEntries(pairs), host: new URL(baseUrl).host, 'content-type': 'application/json' }
  const request = { method: 'POST', url: '/openai/v1/responses', headers } as IncomingMessage
  const signed = await signatureOf(request, Buffer.from('{}'), ROLE)
  expect(signed).toMatchObject({ service, region: 'us-west-2' })
  expect(isoTime(signed?.atMs ?? 0)).toBe(isoTime(NOW_MS))
  expect(secret).toBe(ROLE.sessionToken)
})

test.each([
  ['https://evil.example/openai/v1'],
  ['https://bedrock-runtime.us-west-2.amazonaws.com.evil.example/v1'],
  ['https://bedrock-runtime.us-west-2.amazonaws.com@evil.example/v1'],
  ['https://bucket.s3.us-west-2.amazonaws.com/v1'],
  ['https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1'],
  ['https://bedrock-runtime.us-west-2.amazonaws.com:8443/openai/v1'],
  ['http://bedrock-runtime.us-west-2.amazonaws.com/openai/v1'],
  ['https://bedrock-runtime.evil.s3.amazonaws.com/v1'],
])('a catalog that was written past its check cannot have %s signed', (baseUrl) => {
  const [region] = /evil\.s3/.exec(baseUrl) ?? []
  expect(() => sign(entryAt(baseUrl, region))).toThrow(/sent to no address but Bedrock's own/)
})
