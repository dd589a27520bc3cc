import { describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { reporterOf } from '../../layers/gateway/flow/routing/route-health.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { someOf } from '../support/some-of.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, event, type Reply, say, sse, status } from '../support/upstream.ts'

const MODEL = { contextLength: 100_000, maxOutputTokens: 1000, price: { input: '10', output: '20' } }
const CHEAP = { input: '1', output: '2' }
const CHEAPER = { input: '0.5', output: '1' }
/** Above the price. */
const DEAR = { input: '1', output: '30' }
const nowMs = Date.now()

/** One provider that fails as it is told, and others that answer; to each way on from it there is a model. */
const weak = await openUpstream()
const sound = await openUpstream()
const HASTY = { firstByteTimeoutMs: 500, idleTimeoutMs: 500 }
const to = (provider: string, priority: number, cost?: object, more: object = {}) => {
  return { provider, model: 'm', priority, cost, ...HASTY, ...more }
}
const modelOf = (id: string, ...routes: object[]) => ({ ...MODEL, id, routes })
const provider = { type: 'openai', baseUrl: sound.url }
const catalog = requireCatalog({
  providers: {
    weak: { type: 'openai', baseUrl: weak.url },
    claude: { type: 'anthropic', baseUrl: weak.url },
    same: provider,
    dear: provider,
    other: provider,
  },
  models: [
    modelOf('same', to('weak', 0, CHEAP), to('same', 1, CHEAP)),
    modelOf('dearer', to('weak', 0, CHEAP), to('dear', 1, DEAR)),
    modelOf('patient', to('weak', 0, CHEAP, { firstByteTimeoutMs: 20_000 }), to('dear', 1, DEAR)),
    { ...modelOf('falls-back', to('weak', 0, CHEAP)), fallback: ['other'] },
    modelOf('other', to('other', 0, { input: '0', output: '0' })),
    modelOf('priceless', to('weak', 0), to('same', 1)),
    modelOf('known-to-unknown', to('weak', 0, CHEAP), to('same', 1)),
    modelOf('unknown-to-known', to('weak', 0), to('same', 1, CHEAP)),
    modelOf('narrow', to('claude', 0, CHEAP), to('dear', 1, DEAR), to('same', 2, CHEAP)),
    {
      ...modelOf(
        'several',
        to('weak', 0, CHEAP, { model: 'not found' }),
        to('weak', 1, CHEAPER, { model: 'broken' }),
        to('dear', 2, DEAR),
        to('same', 3, CHEAP),
        to('other', 4, CHEAPER, { model: 'last' }),
      ),
      fallback: ['other'],
    },
  ],
})
const tables = await openFor(catalog)
// An instance of its own has no failures to remember.
const opened = () => openFor(catalog, { onSameTables: tables, clock: () => nowMs })

type Caller = (model: string, body?: object) => Promise<string | null>

async function callerOf(gateway: TestGateway): Promise<Caller> {
  const { secret } = await gateway.issue({ rpm: 60_000 })
  return async (model, body = {}) => {
    const response = await gateway.post(secret, { ...HELLO, model, ...body })
    await response.text()
    return response.headers.get('x-svc-attempts')
  }
}

const OTHER_BODY = { messages: [{ role: 'user', content: 'Bye' }] }

type Rests = 'at once' | 'by two bodies' | 'by one body of two keys' | 'by two keys' | 'never'

/** When the route is left out: after failures of one caller, of two with one body or with two, or never. */
async function restOf(gateway: TestGateway): Promise<Rests> {
  const [one, other] = [await callerOf(gateway), await callerOf(gateway)]
  const isResting = async () => (await one('same'))?.startsWith('same=') === true
  for (let times = 0; times < 5; times++) await one('same')
  if (await isResting()) return 'at once'
  for (let times = 0; times < 3; times++) await one('same', OTHER_BODY)
  if (await isResting()) return 'by two bodies'
  await other('same')
  if (await isResting()) return 'by one body of two keys'
  await other('same', OTHER_BODY)
  return (await isResting()) ? 'by two keys' : 'never'
}

const ROUTES_OWN = { rests: 'at once', same: true, dearer: true, fallback: true }
const UNCLEAR = { ...ROUTES_OWN, rests: 'by two keys' }
const CALLERS = { rests: 'never', same: true, dearer: false, fallback: false }
const ENDS = { ...CALLERS, same: false }

const refusing = (code: number) => status(code, { error: { message: 'No.' } })
const withStatus = (codes: readonly number[], what: object) =>
  someOf(codes, 8).map((code): [string, Reply, object] => [`answers ${code}`, refusing(code), what])
const LARGER_THAN_LIMIT = { message: 'Request too large for m on tokens per min (TPM): Limit 1, Requested 2.' }
const inAnswer = (error: object) => status(200, { error: { message: 'No.', ...error } })
const destroyed: Reply = (response) => void response.socket?.destroy()
const tooLong: Reply = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.end(`{"a":"${'a'.repeat(17 * 1024 * 1024)}"}`)
}

describe('whose doing a failure is', () => {
  test.each<[string, Reply, object]>([
    ...withStatus([401, 402, 429], ROUTES_OWN),
    ...withStatus([302, 304, 408, 500, 501, 502, 503, 504, 505, 507, 520, 524, 529, 599], UNCLEAR),
    ...withStatus([403, 404, 405, 406, 407, 409, 410, 411, 412, 414, 415, 416, 417, 418], CALLERS),
    ...withStatus([421, 423, 424, 425, 426, 428, 431, 444, 451, 460, 498, 499], CALLERS),
    ...withStatus([400, 413, 422], ENDS),
    ['answers 429 with Retry-After', status(429, {}, { 'Retry-After': '60' }), ROUTES_OWN],
    ['answers 404 with Retry-After', status(404, {}, { 'Retry-After': '60' }), CALLERS],
    ['answers 429 because one request is larger than its limit', status(429, { error: LARGER_THAN_LIMIT }), CALLERS],
    ['closes the connection', destroyed, UNCLEAR],
    ['answers with half of an answer', status(200, '{"choices":['), CALLERS],
    ['answers with nothing', sse([]), CALLERS],
    ['answers with an error', inAnswer({}), UNCLEAR],
    ['answers with an error of code 502', inAnswer({ code: 502 }), UNCLEAR],
    ['answers with an error of code 404', inAnswer({ code: 404 }), CALLERS],
    ['answers with an error of code "413"', inAnswer({ code: '413' }), CALLERS],
    ['answers with an invalid_request_error', inAnswer({ type: 'invalid_request_error' }), CALLERS],
    ['answers with context_length_exceeded', inAnswer({ code: 'context_length_exceeded' }), CALLERS],
    ['answers with an error of code 401', inAnswer({ code: 401 }), ROUTES_OWN],
    ['says nothing', () => {}, UNCLEAR],
    ['says nothing after its head', (response) => void response.writeHead(200).flushHeaders(), UNCLEAR],
    ['answers without end', tooLong, CALLERS],
  ])('a route that %s is left out, replaced by a dearer one or by a fallback as it must be', async (_, reply, what) => {
    weak.reply = reply
    const isAnswered = async (model: string) =>
      (await (await callerOf(await opened()))(model))?.endsWith('=ok') === true
    expect({
      rests: await restOf(await opened()),
      same: await isAnswered('same'),
      dearer: await isAnswered('dearer'),
      fallback: await isAnswered('falls-back'),
    }).toEqual(what)
  })

  test('a provider that cannot be reached at all is left out at once, whoever asks', async () => {
    const gone = await openUpstream()
    await gone[Symbol.asyncDispose]()
    const providers = { weak: { type: 'openai', baseUrl: gone.url }, same: { type: 'openai', baseUrl: weak.url } }
    const routes = Object.keys(providers).map((provider, priority) => ({ provider, model: 'm', priority }))
    const catalog = requireCatalog({ providers, models: [{ ...MODEL, id: 'same', routes }] })
    weak.reply = say('Hello')
    expect(await restOf(await openFor(catalog, { clock: () => nowMs }))).toBe('at once')
  })

  test('a route that closes on a large request is not left out, and nothing dearer is asked', async () => {
    weak.reply = destroyed
    const gateway = await opened()
    for (const words of ['a', 'b', 'c']) {
      const ask = await callerOf(gateway)
      const body = { messages: [{ role: 'user', content: words.repeat(600_000) }], max_tokens: 1 }
      expect(await ask('patient', body)).toBe('weak=too_large')
    }
    expect(await (await callerOf(gateway))('same')).toBe('weak=reset, same=ok')
  })

  test('no requests of one key rest a route for others, whatever they are', async () => {
    weak.reply = status(503, {}, { 'Retry-After': '60' })
    const ask = await callerOf(await opened())
    for (let times = 0; times < 20; times++) {
      expect(await ask('same', { user: `${times}`, seed: times })).toBe('weak=status 503, same=ok')
    }
  })

  test('the failures of a caller’s one request are forgotten when the route has answered', async () => {
    const gateway = await opened()
    const [one, other] = [await callerOf(gateway), await callerOf(gateway)]
    weak.reply = status(500, {})
    await one('same')
    weak.reply = say('Hello')
    await one('same')
    weak.reply = status(500, {})
    await other('same')
    expect(await other('same')).toBe('weak=status 500, same=ok')
  })
})

describe('answers that fail after their first word', () => {
  const WORDS = chunk({ content: 'Hel' })

  test.each<[string, 'by two keys' | 'never', Reply]>([
    ['break off', 'by two keys', sse([WORDS])],
    ['fall silent', 'by two keys', (response) => void response.writeHead(200).write(WORDS)],
    ['end with an error of code 404', 'never', sse([WORDS, event({ error: { code: 404 } })])],
    ['end with an error of code 500', 'by two keys', sse([WORDS, event({ error: { code: 500 } })])],
  ])('a route whose answers %s rests %s', async (_, rests, reply) => {
    weak.reply = reply
    const gateway = await opened()
    const [one, other] = [await callerOf(gateway), await callerOf(gateway)]
    for (let times = 0; times < 5; times++) await one('same', { stream: true })
    expect(await one('same', { stream: true })).toBe('weak=ok')
    await other('same', { stream: true })
    await other('same', { stream: true, ...OTHER_BODY })
    expect(await one('same', { stream: true })).toBe(rests === 'never' ? 'weak=ok' : 'same=ok')
  })
})

describe('what costs more', () => {
  test.each(['priceless', 'unknown-to-known', 'known-to-unknown'])(
    'a route without a cost is taken to cost the model’s price (%s)',
    async (model) => {
      weak.reply = status(404, {})
      expect(await (await callerOf(await opened()))(model)).toBe('weak=status 404, same=ok')
    },
  )

  test('a field that a dialect lacks leads to a route that costs no more, past a dearer one', async () => {
    const ask = await callerOf(await opened())
    expect(await ask('narrow', { logprobs: true })).toBe('same=ok')
  })

  test('once a caller has provoked a failure, no later failure of a route leads to one that costs more', async () => {
    weak.reply = (response, request) => status(request.body.model === 'not found' ? 404 : 500, {})(response, request)
    const ask = await callerOf(await opened())
    expect(await ask('several')).toBe('weak=status 404, weak=status 500, same=ok')
  })
})

test('a request of 4 MiB is hashed once, and within a quarter of a second', async () => {
  const { key } = await tables.issue()
  const body = { messages: [{ role: 'user', content: 'é"'.repeat(1_400_000) }] }
  const journey = { attempts: [] }
  const request = { credential: { hash: '', key, cached: false }, priced: { chat: { body } }, journey }
  const before = process.cpuUsage()
  const reporter = reporterOf(request as never)
  const { user, system } = process.cpuUsage(before)
  expect(user + system).toBeLessThan(250_000)
  expect(reporter).toMatchObject({ keyId: key.id, body: expect.stringMatching(/^.{28}$/) })
  expect(reporterOf(request as never)).toBe(reporter)
})
