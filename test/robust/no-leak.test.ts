import { randomBytes } from 'node:crypto'
import { beforeAll, expect, jest, test } from '@jest/globals'
import { issueSecret } from '../../layers/gateway/domain/keys/new-key.ts'
import { hashSecret } from '../../layers/gateway/domain/keys/secret.ts'
import type { CatalogData, OpenAiEntry } from '../../layers/gateway/domain/routing/catalog.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { scanItems } from '../../layers/gateway/store/dynamodb/database.ts'
import { revokeKey, rotateKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, type TestGateway } from '../support/gateway.ts'
import { intercept } from '../support/intercept.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, event, type Reply, say, sse, status } from '../support/upstream.ts'
import { type RawAnswer, type RawCall, rawCall } from './support/raw-call.ts'

const PROMPT = 'QUOKKA whispers "its" prompt'
const COMPLETION = 'WOMBAT answers "in" text'
const PROVIDER_KEY = 'PLATYPUS9x7Kq2Lm5Vt8Rz3'
/** Names of the operator's account, and of the provider's machine. */
const PLACES =
  'org-KOALA7, https://KOALA.example/x, KOALA.openai.azure.com, KOALA-0:8000, /srv/KOALA/x.py, arn:aws:bedrock:eu-west-1:123456789012:KOALA'
const CONSOLE = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const

type Answer = RawAnswer & {
  readonly what: string
  /** It may have the completion. */
  readonly isChat: boolean
  /** The upstream's own words, which are the caller's to read. */
  readonly quotes: boolean
}

const upstream = await openUpstream()
const gateway = await openFor(catalog())
const broken = await openFor(catalog())
const answers: Answer[] = []
const secrets: string[] = []
let printed = ''

/** Everything a caller may put words into. */
const TALK = {
  model: 'test-model',
  messages: [
    { role: 'system', content: PROMPT, name: 'QUOKKA' },
    { role: 'user', content: [{ type: 'text', text: PROMPT }] },
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: PROMPT } }] },
    { role: 'tool', tool_call_id: 'a', content: PROMPT },
  ],
  tools: [{ type: 'function', function: { name: 'QUOKKA', description: PROMPT } }],
  response_format: { type: 'json_schema', json_schema: { name: 'QUOKKA', schema: { description: PROMPT } } },
  stop: [PROMPT],
  user: PROMPT.repeat(10),
  // Kept as claims are only users and tags that are short: test/functions/attribution.test.ts.
  metadata: { [PROMPT.repeat(3)]: PROMPT, note: PROMPT.repeat(3) },
  grammar: PROMPT,
}

/** An error of an upstream that repeats whatever it knows. */
const chatter = () => {
  const message = `Bearer ${PROVIDER_KEY} (${PLACES}) said: ${PROMPT} and I said: ${COMPLETION}`
  return { error: { message, type: message, param: message, code: message } }
}

beforeAll(async () => {
  process.env.LEAK_PROVIDER_KEY = PROVIDER_KEY
  process.env.LEAK_ODD_KEY = `${PROVIDER_KEY}\n`
  const spies = CONSOLE.map((method) => jest.spyOn(console, method).mockImplementation(() => {}))
  try {
    await answeredTraffic()
    await refusedTraffic()
    await failedTraffic()
    await brokenTraffic()
  } finally {
    printed = JSON.stringify(spies.map((spy) => spy.mock.calls.map((line) => line.map(String))))
    for (const spy of spies) spy.mockRestore()
  }
}, 90_000)

function catalog(): CatalogData {
  const { providers, models } = catalogFor(upstream.url, {}, { apiKey: 'env:LEAK_PROVIDER_KEY' })
  const up = providers.up as OpenAiEntry
  const [model] = models as [CatalogData['models'][number]]
  const [route] = model.routes as [CatalogData['models'][number]['routes'][number]]
  const via = (id: string, change: object) => ({ ...model, id, routes: [{ ...route, ...change }] })
  return {
    providers: {
      up,
      odd: { ...up, apiKey: 'env:LEAK_ODD_KEY' },
      none: { ...up, apiKey: 'env:LEAK_NO_SUCH_KEY' },
      gone: { ...up, baseUrl: 'http://127.0.0.1:1/v1' },
    },
    models: [
      model,
      via('hasty-model', { firstByteTimeoutMs: 100, idleTimeoutMs: 100 }),
      via('odd-model', { provider: 'odd' }),
      via('keyless-model', { provider: 'none' }),
      via('gone-model', { provider: 'gone' }),
    ],
  }
}

async function issue(to: TestGateway, settings: Parameters<TestGateway['issue']>[0] = {}) {
  const issued = await to.issue({ rpm: 1_000, ...settings })
  secrets.push(issued.secret)
  return issued
}

/** One call, and everything that came back. */
async function call(what: string, to: TestGateway, secret: string, raw: RawCall, quotes = false): Promise<Answer> {
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json', ...raw.headers }
  const got = await rawCall(to.baseUrl, { ...raw, headers })
  const answer = { ...got, what, isChat: raw.path === undefined, quotes }
  answers.push(answer)
  return answer
}

const talk = (fields: object = {}): RawCall => ({ body: JSON.stringify({ ...TALK, ...fields }) })

async function answeredTraffic(): Promise<void> {
  const { key, secret } = await issue(gateway)
  for (const stream of [true, false]) {
    const options = stream ? { stream, stream_options: { include_usage: true } } : {}
    for (const [what, reply] of [
      ['an answer', say(COMPLETION)],
      ['an answer to estimate', say(COMPLETION, undefined)],
      ['an answer with strange usage', say(COMPLETION, { prompt_tokens: PROMPT, completion_tokens: COMPLETION })],
      ['an answer in JSON', status(200, { choices: [{ index: 0, message: { content: COMPLETION } }] })],
    ] as const) {
      upstream.reply = reply
      const { headers } = await call(`${what}, stream: ${stream}`, gateway, secret, talk(options))
      await call('its row', gateway, secret, { method: 'GET', path: `/v1/usage/${headers['x-request-id']}` })
    }
  }
  const { secret: next, stored } = issueSecret(BRAND.keyPrefix, randomBytes)
  secrets.push(next)
  await rotateKey(gateway.tables)(key.id, stored, actAt())
  for (const path of ['/v1/models', '/v1/models/test-model', '/v1/key/introspect']) {
    for (const token of [secret, next]) await call(path, gateway, token, { method: 'GET', path })
  }
}

async function refusedTraffic(): Promise<void> {
  upstream.reply = say(COMPLETION)
  const { secret } = await issue(gateway)
  const bodies: Record<string, string | Buffer> = {
    'bad JSON': `{"messages": ${PROMPT}`,
    'bad JSON in a string': `{"messages":"${PROMPT}`,
    'bad UTF-8': Buffer.concat([Buffer.from(`{"user":"QUOKKA`), Buffer.from([0xff])]),
    'too much': JSON.stringify({ ...TALK, more: PROMPT.repeat(200_000) }),
    'too deep': `{"QUOKKA":${'['.repeat(100)}"QUOKKA"${']'.repeat(100)}}`,
    'no object': JSON.stringify(PROMPT),
    'a list': JSON.stringify([PROMPT]),
  }
  for (const [what, body] of Object.entries(bodies)) await call(what, gateway, secret, { body })
  for (const fields of [
    { model: undefined },
    { model: 'no-such-model' },
    { messages: PROMPT },
    { messages: [PROMPT] },
    { messages: [{ role: PROMPT, content: PROMPT }] },
    { messages: [{ role: 'user', content: { [PROMPT]: PROMPT } }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: [PROMPT] }] }] },
    { temperature: PROMPT },
    { stop: [PROMPT, 1] },
    { stream: PROMPT },
    { tools: [PROMPT] },
    { metadata: PROMPT },
    { max_tokens: 1e9 },
    { of_the_future: PROMPT },
    { stream_options: { include_usage: PROMPT } },
  ]) {
    await call(`bad ${Object.keys(fields)}`, gateway, secret, talk(fields))
  }
  await call('not JSON', gateway, secret, { ...talk(), headers: { 'Content-Type': 'text/plain' } })
  await call('no such path', gateway, secret, { ...talk(), path: '/v1/nothing' })
  await call('no such method', gateway, secret, { ...talk(), method: 'PUT' })
  await call('no such row', gateway, secret, { method: 'GET', path: '/v1/usage/req_0' })

  const stranger = issueSecret(BRAND.keyPrefix, randomBytes).secret
  secrets.push(stranger)
  await call('an unknown key', gateway, stranger, talk())
  await call('half a key', gateway, secret.slice(0, -1), talk())
  for (const headers of [{ Authorization: '' }, { Authorization: '', 'X-Api-Key': secret, Cookie: `key=${secret}` }]) {
    await call('a key elsewhere', gateway, '', { ...talk(), path: `/v1/chat/completions?key=${secret}`, headers })
  }
  const revoked = await issue(gateway)
  await revokeKey(gateway.tables)(revoked.key.id, actAt())
  await call('a revoked key', gateway, revoked.secret, talk())
  for (const [what, settings] of Object.entries({
    'no credits': { credits: '0' },
    'too few credits': { credits: '0.000001' },
    'no scope': { scopes: [] },
    'no such address': { allowlist: ['192.0.2.0/24'] },
    'too fast': { rpm: 1 },
    'too often': { dailyLimit: 1 },
  })) {
    const poor = await issue(gateway, settings)
    for (let time = 1; time <= 2; time++) await call(what, gateway, poor.secret, talk({ max_tokens: 900 }))
  }
}

async function failedTraffic(): Promise<void> {
  const { secret } = await issue(gateway)
  const half =
    (then: Reply): Reply =>
    async (response, request) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      await new Promise<void>((resolve) => response.write(chunk({ content: COMPLETION }), () => resolve()))
      await then(response, request)
    }
  const lists = { index: 0, delta: { content: COMPLETION }, logprobs: { content: Array(200_000).fill(0) } }
  const replies: Record<string, Reply> = {
    ...Object.fromEntries(
      [400, 401, 403, 404, 408, 413, 422, 429, 500, 503].map((code) => [`${code}`, status(code, chatter())]),
    ),
    'a 400 of HTML': status(400, `<html>${PROMPT} ${PROVIDER_KEY}`, { 'Content-Type': 'text/html' }),
    'an error in a 200': status(200, chatter()),
    'an error event': sse([event(chatter())]),
    'an error event midway': half((response) => void response.end(event(chatter()))),
    'a break midway': half((response) => void response.destroy()),
    'JSON cut short': status(200, `{"choices":[{"message":{"content":"${PROMPT} ${COMPLETION} ${PROVIDER_KEY}`),
    'an event that is no JSON': sse([`data: ${PROMPT} ${COMPLETION} ${PROVIDER_KEY}\n\n`, DONE]),
    HTML: status(200, `<html>${PROMPT} ${PROVIDER_KEY}`, { 'Content-Type': 'text/html' }),
    'a redirect with the key': status(302, chatter(), { Location: `http://127.0.0.1:1/?key=${PROVIDER_KEY}` }),
    'strange headers': status(500, '', { 'X-Echo': PROVIDER_KEY, 'Retry-After': PROVIDER_KEY }),
    'long lists': sse([event({ choices: [lists] }), event({ choices: [lists] }), chunk({}, 'stop'), DONE]),
    'a runaway': sse([...Array(400).fill(chunk({ content: COMPLETION }))]),
  }
  for (const stream of [true, false]) {
    for (const [what, reply] of Object.entries(replies)) {
      upstream.reply = reply
      const quotes = ['400', '413', '422'].includes(what)
      await call(`${what}, stream: ${stream}`, gateway, secret, talk({ stream, max_tokens: 5 }), quotes)
    }
    for (const [model, reply] of [
      ['hasty-model', () => {}],
      ['hasty-model', half(() => {})],
      ['odd-model', say(COMPLETION)],
      ['keyless-model', say(COMPLETION)],
      ['gone-model', say(COMPLETION)],
    ] as const) {
      upstream.reply = reply
      await call(`${model}, stream: ${stream}`, gateway, secret, talk({ model, stream }))
    }
  }
}

/** A database whose errors repeat what they were sent. */
async function brokenTraffic(): Promise<void> {
  const { secret } = await issue(broken)
  let failing: { readonly command: string; readonly name: string } | undefined
  intercept(broken.tables, (send, command, input) => {
    if (command !== failing?.command) return send()
    const quoting = JSON.stringify(input, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    return Promise.reject(Object.assign(new Error(`It failed on ${quoting}`), { name: failing?.name }))
  })
  upstream.reply = say(COMPLETION)
  for (const stream of [true, false]) {
    for (const [command, name] of [
      ['UpdateItem', 'ValidationException'],
      ['UpdateItem', 'TimeoutError'],
      ['PutItem', 'ValidationException'],
    ] as const) {
      failing = { command, name }
      await call(`${command} ${name}, stream: ${stream}`, broken, secret, talk({ stream }))
      failing = undefined
    }
  }
}

/** The marker, or eight letters of a secret in a row, if one is in here. */
function leakIn(text: string, { quotesPrompt = false, quotesCompletion = false } = {}): string | undefined {
  const inFull = ['KOALA', '123456789012', ...(quotesPrompt ? [] : ['QUOKKA']), ...(quotesCompletion ? [] : ['WOMBAT'])]
  const needles = [...inFull, ...[PROVIDER_KEY, ...secrets.map(secretPart)].flatMap((text) => windows(text))]
  const found = needles.find((needle) => text.includes(needle))
  const at = found === undefined ? 0 : text.indexOf(found)
  return found && `${found}: …${text.slice(Math.max(0, at - 80), at + 80)}…`
}

/** The leak with the call that has it. */
const told = (what: string, leak: string | undefined) => (leak === undefined ? [] : [`${what}: ${leak}`])
const secretPart = (secret: string) => secret.slice(BRAND.keyPrefix.length)
const windows = (text: string, size = 8) =>
  Array.from({ length: Math.max(0, text.length + 1 - size) }, (_, at) => text.slice(at, at + size))

async function itemsOf(to: TestGateway): Promise<Record<string, unknown>[]> {
  const { database, keys, usage, answers } = to.tables
  const scans = [keys, usage, answers].map((TableName) => scanItems(database, { TableName, ConsistentRead: true }))
  return (await Promise.all(scans.map((scan) => Array.fromAsync(scan)))).flat()
}

const inText = (value: unknown) => JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}` : part))

test('the traffic that is searched for leaks has answers, refusals and failures of every kind', () => {
  const seen = new Set(answers.map((answer) => answer.status))
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([200, 400, 401, 402, 403, 404, 405, 413, 415, 429, 500, 502, 503, 504]),
  )
  expect(answers.filter(({ body }) => body.includes('WOMBAT')).length).toBeGreaterThan(8)
  expect(gateway.logLines.length).toBeGreaterThan(80)
  expect(broken.logLines.length).toBeGreaterThan(3)
  expect(leakIn(`x${secrets[0]?.slice(20, 30)}x`)).toBeDefined()
})

test.each<[string, () => string[] | Promise<string[]>, number]>([
  ['log line', () => [...gateway.logLines, ...broken.logLines], 80],
  ['console output', () => [printed], 0],
  ['item of a table', async () => [...(await itemsOf(gateway)), ...(await itemsOf(broken))].map(inText), 100],
  ['response header', () => answers.map(({ headers }) => inText(headers)), 80],
])('no %s has a prompt, a completion, a caller’s secret or a provider’s key', async (_, textsOf, least) => {
  const texts = await textsOf()
  expect(texts.length).toBeGreaterThan(least)
  expect(texts.flatMap((text) => leakIn(text) ?? [])).toEqual([])
})

test('no error body has a key, and only an upstream’s own words about a request may quote its prompt', () => {
  const refused = answers.filter(({ status: code }) => code >= 400)
  const leaks = refused.flatMap(({ what, body, quotes }) =>
    told(what, leakIn(body, { quotesPrompt: quotes, quotesCompletion: quotes })),
  )
  expect(leaks).toEqual([])
  const quoting = refused.filter(({ quotes }) => quotes)
  expect(quoting.every(({ body }) => body.includes('QUOKKA') && body.includes('[key]'))).toBe(true)
})

test('no answer has the prompt or a key, and only the answer of a chat has the completion', () => {
  const served = answers.filter(({ status: code }) => code === 200)
  const leaks = served.flatMap(({ what, body, isChat }) => {
    const error = body.split('\n\n').find((frame) => frame.startsWith('data: {"error"')) ?? ''
    return told(what, leakIn(body, { quotesCompletion: isChat }) ?? leakIn(error))
  })
  expect(leaks).toEqual([])
})

test('no caller’s secret reaches an upstream, and a provider’s key only in its own header', () => {
  expect(upstream.requests.length).toBeGreaterThan(40)
  for (const { headers, body } of upstream.requests) {
    const { authorization, ...others } = headers
    expect(authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    const sent = inText([others, body])
    expect(leakIn(sent, { quotesPrompt: true })).toBeUndefined()
  }
})

test('a stored key has only the hash, the prefix and the last four characters of its secret', async () => {
  const items = await itemsOf(gateway)
  const keys = items.filter(({ sk }) => sk === 'KEY')
  expect(keys.length).toBeGreaterThan(8)
  for (const item of keys) {
    const current = secrets.find((secret) => hashSecret(secret) === item.currentHash) as string
    expect(item).toMatchObject({ prefix: BRAND.keyPrefix, currentLastFour: current.slice(-4) })
    const previous = secrets.find((secret) => hashSecret(secret) === item.previousHash)
    expect(item.previousLastFour).toBe(previous?.slice(-4))
    const known = ['id', 'pk', 'prefix', 'currentHash', 'currentLastFour', 'previousHash', 'previousLastFour']
    const others = inText(Object.entries(item).filter(([name]) => !known.includes(name)))
    const pieces = [current, previous ?? ''].flatMap((secret) => windows(secretPart(secret), 5))
    expect(pieces.filter((piece) => others.includes(piece))).toEqual([])
  }
  const hashes = items.filter(({ sk }) => sk === 'HASH')
  for (const { pk } of hashes) expect(secrets.map((secret) => `HASH#${hashSecret(secret)}`)).toContain(pk)
  const names = new Set(hashes.flatMap((item) => Object.keys(item)))
  expect([...names].filter((name) => !['pk', 'sk', 'keyId', 'expiresAt'].includes(name))).toEqual([])
})
