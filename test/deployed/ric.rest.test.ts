import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { EDGE_HEADERS } from '../../layers/gateway/names.ts'
import { type BedrockUpstream, MODEL_ID, startBedrock } from '../providers/bedrock/bedrock-upstream.ts'
import { DIMENSIONS, manyVectors, TEXTS } from '../robust/support/many-vectors.ts'
import { WORST_REQUESTS } from '../robust/support/worst-requests.ts'
import { heldBack } from '../sdk/support/held-back.ts'
import { booksBalance, catalogFor, HELLO } from '../support/gateway.ts'
import { someOf } from '../support/some-of.ts'
import { chunk, DONE, say, startUpstream, status, type Upstream, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { ORIGIN_SECRET, openAccount, type TestAccount } from './support/account.ts'
import { startFunction } from './support/function-process.ts'
import { httpEvent } from './support/http-event.ts'
import { installRuntimeClient } from './support/install-runtime-client.ts'
import type { LambdaAnswer } from './support/lambda-answer.ts'
import { type LambdaService, startLambdaService } from './support/lambda-service.ts'
import { heapLimits, type RuntimeProcess, startRuntime } from './support/runtime-process.ts'
import { type SecretsManager, secretFor, startSecretsManager } from './support/secrets-manager.ts'
import { type DeployedFunction, TOKENIZER } from './support/synthesize.ts'

const PATH = '/v1/chat/completions'
const PROVIDER_KEY = 'provider-key-of-this-test'
const AT_BEDROCK = { provider: 'bedrock', model: MODEL_ID }

const installed = await installRuntimeClient()
const client = 'file' in installed ? installed.file : ''
if ('missing' in installed) process.stderr.write(`test/deployed/ric.rest.test.ts is skipped: ${installed.missing}.\n`)
const describeInLambda = client ? describe : describe.skip

const opened = new AsyncDisposableStack()
let upstream: Upstream
let secrets: SecretsManager
let bedrock: BedrockUpstream
let lambda: LambdaService
let account: TestAccount
let chat: RuntimeProcess

beforeAll(async () => {
  if (!client) return
  upstream = opened.use(await startUpstream())
  secrets = opened.use(await startSecretsManager({ 'waybill/dev/up': secretFor(upstream.url, PROVIDER_KEY) }))
  bedrock = opened.use(await startBedrock())
  account = opened.use(await openAccount(withOthers(catalogFor(upstream.url, {}, { apiKey: 'secret:up' }))))
  const tokenizer = opened.use(await startFunction(account.functions.tokenizer, account.dynamodb.endpoint))
  lambda = opened.use(await startLambdaService({ [TOKENIZER]: tokenizer }))
  chat = await start(account.functions.chat)
}, 180_000)
beforeEach(() => {
  if (client) upstream.reply = say('Hello')
})
afterAll(() => opened.disposeAsync())

/** With a second model, which only Bedrock has, and one that embeds. */
function withOthers({ providers, models }: CatalogData): CatalogData {
  const others = models.flatMap((model) => [
    { ...model, id: 'bedrock-model', routes: model.routes.map((route) => ({ ...route, ...AT_BEDROCK })) },
    { ...model, id: 'embedder', kind: 'embedding' as const, dimensions: DIMENSIONS },
  ])
  return {
    providers: { ...providers, bedrock: { type: 'bedrock', region: 'us-east-1' } },
    models: [...models, ...others],
  }
}

async function start(deployed: DeployedFunction, extra: Record<string, string> = {}): Promise<RuntimeProcess> {
  const elsewhere = {
    ...extra,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrock.url,
    AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
  }
  return opened.use(await startRuntime(client, deployed, account.dynamodb.endpoint, { env: elsewhere }))
}

function post(secret: string, body: unknown, extra: object = {}, on = chat): Promise<LambdaAnswer> {
  return on.invoke({ ...httpEvent({ method: 'POST', path: PATH, secret, body }), ...extra })
}

/** The whole answer. */
async function ask(...asked: Parameters<typeof post>) {
  return (await post(...asked)).whole()
}

async function rowOf({ headers }: { readonly headers: Record<string, string> }) {
  return account.readRow(headers['X-Request-Id'])
}

const STREAM = { ...HELLO, stream: true }
const TOOLS = ['1,024 tools of 3 KB', '25,000 tool calls']

/** The part of the memory that Lambda may need for itself: a function that takes too much is killed, and answers nobody. */
const SPARE = 0.2

describeInLambda('the chat function', () => {
  test('chat in Lambda’s runtime answers with a completion, its headers and its cost', async () => {
    const { key, secret } = await account.issue()
    const answer = await post(secret, HELLO)
    expect(answer.isStreaming).toBe(true)
    expect(answer.contentType).toBe('application/vnd.awslambda.http-integration-response')
    const { statusCode, headers, body } = await answer.whole()
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'Content-Type': 'application/json',
      'X-Request-Id': expect.stringMatching(/^req_/),
      'X-Svc-Provider': 'up',
      'X-Svc-Cost': '0.00002',
      'RateLimit-Limit': '60',
      'RateLimit-Remaining': '59',
    })
    expect(JSON.parse(body)).toMatchObject({
      object: 'chat.completion',
      model: 'test-model',
      choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.00002 },
    })
    expect((await account.readRow(headers['X-Request-Id'])).keyId).toBe(key.id)
  })

  test('chat in Lambda’s runtime takes a body in base64 and sends a long answer whole, with no character cut in two', async () => {
    const { secret } = await account.issue()
    const content = `x${`🧾${' '.repeat(120)}`.repeat(300)}`
    upstream.reply = say(content)
    const encoded = Buffer.from(JSON.stringify(HELLO)).toString('base64')
    const { body } = await ask(secret, encoded, { isBase64Encoded: true })
    expect(JSON.parse(body).choices[0].message.content === content).toBe(true)
  })

  test('chat in Lambda’s runtime streams each chunk before the upstream sends the next', async () => {
    const { secret } = await account.issue()
    const words = ['One', 'two', 'three', 'four']
    const seen = words.map(() => Promise.withResolvers<void>())
    upstream.reply = async (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      for (const [i, content] of words.entries()) {
        response.write(chunk({ role: 'assistant', content }))
        await seen[i]?.promise
      }
      response.end(chunk({}, 'stop') + usageChunk(USAGE) + DONE)
    }
    const answer = await post(secret, STREAM)
    for (const [i, word] of words.entries()) {
      const body = await answer.bodyWith(`"${word}"`)
      for (const later of words.slice(i + 1)) expect(body).not.toContain(`"${later}"`)
      seen[i]?.resolve()
    }
    const { statusCode, headers, body } = await answer.whole()
    expect(statusCode).toBe(200)
    expect(headers['Content-Type']).toBe('text/event-stream; charset=utf-8')
    expect(headers['X-Svc-Cost']).toBeUndefined()
    expect(body.endsWith(': x-svc-cost 0.00002\n\ndata: [DONE]\n\n')).toBe(true)
  })

  test.each([
    ['a completion', HELLO, '"cost":0.00002'],
    ['a stream', STREAM, '[DONE]'],
  ])('chat in Lambda’s runtime has settled the charge when the last byte of %s is out', async (_, asked, last) => {
    const { key, secret } = await account.issue()
    const mark = account.dynamodb.calls.length
    const answer = await post(secret, asked)
    await answer.bodyWith(last)
    chat.child.kill('SIGSTOP')
    try {
      const answered = account.dynamodb.calls.slice(mark).map(({ operation }) => operation)
      expect(answered.slice(-3)).toEqual(['UpdateItem', 'PutItem', 'UpdateItem'])
      const after = await account.readKey(key.id)
      expect(after).toMatchObject({ holds: {}, spent: 20_000n })
      expect(booksBalance(after)).toBe(true)
    } finally {
      chat.child.kill('SIGCONT')
    }
    const row = { outcome: 'completed', cost: 20_000n, usageSource: 'upstream' }
    expect(await rowOf(await answer.whole())).toMatchObject(row)
  })

  test.each([
    ['an unknown key', 401, 'invalid_api_key', undefined],
    ['a streamed request without credits', 402, 'credit_balance_exhausted', { credits: '0' }],
    ['an unknown model', 404, 'model_not_found', { credits: '1' }],
  ])('chat in Lambda’s runtime refuses %s with status %i and the code %s', async (_, code, error, issued) => {
    const secret = issued ? (await account.issue(issued)).secret : `svc_live_${'A'.repeat(43)}`
    const requests = upstream.requests.length
    const body = code === 404 ? { ...STREAM, model: 'nope' } : STREAM
    const answer = await ask(secret, body)
    expect([answer.statusCode, JSON.parse(answer.body).error.code]).toEqual([code, error])
    expect(answer.headers).toMatchObject({ 'Content-Type': 'application/json', 'X-Svc-Cost': '0' })
    expect(answer.headers['RateLimit-Remaining']).toBe(code === 401 ? undefined : '59')
    expect(upstream.requests).toHaveLength(requests)
  })

  test('chat in Lambda’s runtime survives an upstream that dies in mid-stream, and answers the next call', async () => {
    const { key, secret } = await account.issue()
    const held = heldBack([chunk({ role: 'assistant', content: 'The quick brown fox' })], 'broken')
    upstream.reply = held.reply
    const answer = await post(secret, STREAM)
    await answer.bodyWith('quick')
    held.answer()
    const broken = await answer.whole()
    expect(broken.body).toContain('"code":"upstream_error"')
    expect(broken.body).not.toContain('[DONE]')
    const row = await rowOf(broken)
    expect(row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate', completionTokens: 4 })

    upstream.reply = say('Hello')
    expect((await ask(secret, STREAM)).body).toContain('[DONE]')
    expect(chat.child.exitCode).toBeNull()
    expect(await account.readKey(key.id)).toMatchObject({ holds: {}, spent: row.cost + 20_000n })
  })

  test('chat in Lambda’s runtime invokes the tokenizer function only for an estimate, and once for prompt and answer', async () => {
    const { secret } = await account.issue()
    const rowFor = async (body: object) => rowOf(await ask(secret, body))
    lambda.invoked.length = 0
    for (const body of [HELLO, STREAM]) expect((await rowFor(body)).usageSource).toBe('upstream')
    expect(lambda.invoked).toEqual([])
    const content = 'The quick brown fox jumps over the lazy dog.'
    upstream.reply = say(content, null)
    for (const body of [HELLO, STREAM]) {
      const row = await rowFor(body)
      expect(row).toMatchObject({ outcome: 'completed', usageSource: 'estimate', completionTokens: 10 })
      expect(row).not.toHaveProperty('estimatedBy')
    }
    const invocation = { name: TOKENIZER, event: { texts: ['user\nHello', content] } }
    expect(lambda.invoked).toEqual([invocation, invocation])

    lambda.isUp = false
    const rough = await rowFor(STREAM)
    lambda.isUp = true
    expect(rough).toMatchObject({ outcome: 'completed', usageSource: 'estimate', estimatedBy: 'characters' })
    expect(rough.completionTokens).toBe(Math.ceil(43 / 3 + 1))
    await until(() => chat.output.text.includes('"RoughEstimates":1'))
    expect(chat.output.text).not.toContain('quick')
  })

  const LARGEST = someOf(['150,000 unknown fields of null', '300,000 stop strings', ...TOOLS], 5)

  test.each<[string, (own: RuntimeProcess) => Promise<void>]>([
    [
      'takes the largest requests, one after the other,',
      async (own) => {
        const { secret } = await account.issue({ credits: '1000' })
        for (const name of LARGEST) {
          const request = WORST_REQUESTS[name]?.()
          for (const model of ['test-model', 'bedrock-model']) {
            const { statusCode } = await ask(secret, { ...HELLO, model, ...request }, {}, own)
            expect([name, model, [200, 400].includes(statusCode)]).toEqual([name, model, true])
          }
        }
      },
    ],
    [
      'embeds the largest batch',
      async (own) => {
        const { secret } = await account.issue({ scopes: ['embeddings'] })
        upstream.reply = manyVectors
        const body = { model: 'embedder', input: Array(TEXTS).fill('a') }
        const event = httpEvent({ method: 'POST', path: '/v1/embeddings', secret, body })
        const answer = await (await own.invoke(event)).whole()
        expect([answer.statusCode, answer.headers['X-Svc-Cost']]).toEqual([200, '0.002048'])
      },
    ],
  ])(
    'chat in Lambda’s runtime %s within the memory of its stage',
    async (_, use) => {
      const { chat: deployed } = account.functions
      // With the heap that Lambda allows it.
      const own = await start(deployed, { NODE_OPTIONS: heapLimits(deployed.memoryMb) })
      await use(own)
      const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${own.child.pid}/status`, 'utf8')) ?? []
      expect(Number(kilobytes) / 1024).toBeLessThan(deployed.memoryMb * (1 - SPARE))
    },
    60_000,
  )

  test('chat in Lambda’s runtime loads the AWS SDK with the first call to Bedrock, once and not before', async () => {
    const { secret } = await account.issue()
    bedrock.requests.length = 0
    const own = await start(account.functions.chat)
    const file = join(account.functions.chat.folder, 'bedrock.js')
    // A missing function cannot be loaded.
    for (const [isThere, body] of [
      [false, {}],
      [true, { model: 'bedrock-model', stream: true }],
      [false, { model: 'bedrock-model', stream: true }],
    ] as const) {
      if (!isThere) renameSync(file, `${file}-aside`)
      const { statusCode } = await ask(secret, { ...HELLO, ...body }, {}, own)
      if (!isThere) renameSync(`${file}-aside`, file)
      expect([isThere, body, statusCode]).toEqual([isThere, body, 200])
    }
    expect(bedrock.requests).toHaveLength(2)
  })

  test('a warm chat function makes one DynamoDB call before the upstream, two after it, and none its role forbids', async () => {
    const { secret } = await account.issue()
    const own = await start(account.functions.chat)
    const { calls } = account.dynamodb
    const first = calls.length
    const askedForSecrets = secrets.asked.length
    let mark = first
    const before: string[][] = []
    const after: string[][] = []
    const operations = () => calls.slice(mark).map(({ operation }) => operation)
    upstream.reply = (response, request) => {
      before.push(operations())
      mark = calls.length
      return say('Hello')(response, request)
    }
    for (const body of [HELLO, HELLO, STREAM, HELLO, STREAM]) {
      await ask(secret, body, {}, own)
      after.push(operations())
      mark = calls.length
    }
    expect(before).toEqual([['GetItem', 'GetItem', 'GetItem', 'UpdateItem'], ...Array(4).fill(['UpdateItem'])])
    for (const settled of after) expect(settled).toEqual(['PutItem', 'UpdateItem'])
    expect(calls.slice(first).filter((call) => !account.functions.chat.role.allows(call))).toEqual([])
    // The provider's key, once for all of them.
    expect(secrets.asked.slice(askedForSecrets)).toEqual(['waybill/dev/up'])
    for (const { headers } of upstream.requests.slice(-5)) expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`)
    // One connection too.
    expect(new Set(upstream.requests.slice(-5).map(({ connection }) => connection)).size).toBe(1)
  })

  test('chat in Lambda’s runtime refuses a request around CloudFront with 403, and neither reads, asks nor logs for it', async () => {
    const { secret } = await account.issue()
    const [reads, asked] = [account.dynamodb.calls.length, upstream.requests.length]
    const refused: string[] = []
    for (const headers of [{}, { [EDGE_HEADERS.origin]: 'a guess' }]) {
      const answer = await ask(secret, STREAM, httpEvent({ method: 'POST', path: PATH, secret, direct: true, headers }))
      refused.push(answer.headers['X-Request-Id'] ?? '')
      expect([answer.statusCode, JSON.parse(answer.body).error.code]).toEqual([403, 'direct_access_denied'])
    }
    expect([account.dynamodb.calls.length, upstream.requests.length]).toEqual([reads, asked])
    const served = await ask(secret, HELLO)
    await until(() => chat.output.text.includes(served.headers['X-Request-Id'] ?? ''))
    for (const id of refused) expect(chat.output.text).not.toContain(id)
  })

  test.each([
    ['OPTIONS', 204, { 'Access-Control-Allow-Origin': '*', 'Access-Control-Max-Age': '86400' }],
    ['HEAD', 405, { Allow: 'POST' }],
  ] as const)(
    'chat in Lambda’s runtime answers %s through CloudFront with %i and no body, without a read, and around it with 403',
    async (method, status, headers) => {
      const reads = account.dynamodb.calls.length
      const event = { method, path: PATH, headers: { origin: 'https://page.example' } }
      const answer = await (await chat.invoke(httpEvent(event))).whole()
      expect([answer.statusCode, answer.body]).toEqual([status, ''])
      expect(answer.headers).toMatchObject(headers)
      const direct = await (await chat.invoke(httpEvent({ ...event, direct: true }))).whole()
      expect(direct.statusCode).toBe(403)
      expect(account.dynamodb.calls).toHaveLength(reads)
    },
  )

  test('chat in Lambda’s runtime replays an answer for the same Idempotency-Key, and tries again after a failure', async () => {
    const { key, secret } = await account.issue()
    const { calls } = account.dynamodb
    const first = calls.length
    const { headers } = httpEvent({ path: '/', secret, headers: { 'idempotency-key': 'order-1' } })
    upstream.reply = status(500, { error: { message: 'no' } })
    expect((await ask(secret, STREAM, { headers })).statusCode).toBe(502)
    upstream.reply = say('Hello')
    const [answer, again] = [await ask(secret, STREAM, { headers }), await ask(secret, STREAM, { headers })]
    expect(again.headers).toMatchObject({ 'X-Svc-Replayed': 'true', 'X-Svc-Cost': '0' })
    expect(again.body).toBe(answer.body.replace(/x-svc-cost .*/, 'x-svc-cost 0'))
    expect((await account.readKey(key.id)).spent).toBe(20_000n)
    const made = calls.slice(first)
    expect(made.filter(({ table }) => table === account.tables.answers).map(({ operation }) => operation)).toEqual([
      ...['PutItem', 'DeleteItem'],
      ...['PutItem', 'UpdateItem'],
      'PutItem',
    ])
    expect(made.filter((call) => !account.functions.chat.role.allows(call))).toEqual([])
  })

  test('chat in Lambda’s runtime logs one JSON line an event, with no secret, and nothing else', async () => {
    const { key, secret } = await account.issue()
    await ask(secret, HELLO)
    await until(() => chat.output.text.includes(key.id) && chat.output.text.endsWith('\n'))
    for (const line of chat.output.text.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ stage: 'dev' })
    for (const kept of [secret, PROVIDER_KEY, ORIGIN_SECRET]) expect(chat.output.text).not.toContain(kept)
    expect(chat.errors).toEqual([])
  })
})

describeInLambda('the other functions', () => {
  test.each([
    ['api', askForModels, { statusCode: 200, headers: { 'RateLimit-Limit': '60' } }],
    ['sweep', async () => ({ version: '0', source: 'aws.scheduler' }), { finished: 0 }],
    ['tokenizer', async () => ({ texts: ['hello world', 'hello'] }), { tokens: [2, 1] }],
  ] as const)('%s starts in Lambda’s runtime and answers, and does not stream', async (name, event, expected) => {
    const started = await start(account.functions[name])
    const answer = await started.invoke(await event())
    await answer.ended
    expect(answer.isStreaming).toBe(false)
    expect(JSON.parse(answer.body)).toMatchObject(expected)
    expect(started.errors).toEqual([])
  })
})

async function askForModels() {
  return httpEvent({ path: '/v1/models', secret: (await account.issue()).secret })
}
