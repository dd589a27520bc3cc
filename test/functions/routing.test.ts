import { beforeEach, describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { booksBalance, catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { someTimes } from '../support/some-of.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, type Reply, say, sse, status, type Upstream } from '../support/upstream.ts'

let first: Upstream
let second: Upstream
let gateway: TestGateway
let nowMs = Date.now()

const MODEL = { contextLength: 100_000, maxOutputTokens: 1000, price: { input: '1', output: '2' } }
const timeouts = { firstByteTimeoutMs: 400, idleTimeoutMs: 400 }

const to = (provider: string, model: string, more: object = {}) => ({ provider, model, ...timeouts, ...more })
let providers: Record<string, object>

/** Two providers, `one` before `two`; a model that falls back on another; one with two routes of equal rank. */
beforeEach(async () => {
  first = await openUpstream(say('one'))
  second = await openUpstream(say('two'))
  providers = {
    one: { type: 'openai', baseUrl: first.url },
    two: { type: 'openai', baseUrl: second.url },
    claude: { type: 'anthropic', baseUrl: first.url },
  }
  const free = { maxOutputTokens: 50, price: { input: '0', output: '0' } }
  const models = [
    { id: 'test-model', routes: [to('two', 'm2', { priority: 1 }), to('one', 'm1', { priority: 0 })] },
    { id: 'falls-back', routes: [to('one', 'm1')], fallback: ['cheap'] },
    { id: 'cheap', ...free, routes: [to('two', 'cheap-2')] },
    { id: 'mixed', routes: [to('claude', 'c1'), to('two', 'm2', { priority: 1 })] },
    { id: 'weighted', routes: [to('one', 'm1', { weight: 1 }), to('two', 'm2', { weight: 3 })] },
  ]
  nowMs = Date.now()
  const catalog = requireCatalog({ providers, models: models.map((model) => ({ ...MODEL, ...model })) })
  gateway = await openFor(catalog, { clock: () => nowMs })
})

const bytes = (text: string, type: string) => status(200, text, { 'Content-Type': type })
const breakOff: Reply = (response) => void response.socket?.destroy()

describe('failing routes', () => {
  test.each<[string, Reply, string]>([
    ['refuses with 500', status(500, {}), 'status 500'],
    ['is overloaded (429)', status(429, {}), 'status 429'],
    ['times out by itself (408)', status(408, {}), 'timeout 408'],
    ['does not know the model (404)', status(404, {}), 'status 404'],
    ['refuses the operator’s credential (401)', status(401, { error: { message: 'bad key' } }), 'credential 401'],
    ['redirects', status(302, '', { Location: 'http://127.0.0.1:1/' }), 'status 302'],
    ['resets the connection', breakOff, 'reset'],
    ['hangs', () => {}, 'timeout'],
    ['hangs after its headers', (response) => void response.writeHead(200).flushHeaders(), 'timeout'],
    ['answers with HTML', bytes('<html>', 'text/html'), 'empty'],
    ['answers with broken JSON', bytes('{"choices":[', 'application/json'), 'protocol'],
    ['answers with nothing', bytes('', 'text/event-stream'), 'empty'],
    ['answers with an error in a 200', bytes('{"error":{"message":"no"}}', 'application/json'), 'error_event'],
    [
      'sends an error event',
      sse([chunk({ role: 'assistant' }), 'data: {"error":{"message":"no"}}\n\n']),
      'error_event',
    ],
    ['dies after naming its role', sse([chunk({ role: 'assistant', content: '' })]), 'reset'],
  ])('a route that %s is replaced by the next, with one answer and one charge', async (_, reply, reason) => {
    first.reply = reply
    const whole = await gateway.ask()
    const stream = await gateway.ask({ stream: true })
    for (const { response, status: code, text, row, key } of [whole, stream]) {
      expect([code, text.match(/"content":"two"/g)?.length, text.includes('"content":"one"')]).toEqual([200, 1, false])
      expect(response.headers.get('x-svc-provider')).toBe('two')
      expect(response.headers.get('x-svc-attempts')).toMatch(/two=ok$/)
      expect(row).toMatchObject({ provider: 'two', upstreamModel: 'm2', cost: 20_000n })
      expect(key).toMatchObject({ spent: 20_000n, holds: {} })
    }
    expect(whole.response.headers.get('x-svc-attempts')).toBe(`one=${reason}, two=ok`)
    expect(whole.row.attempts).toMatchObject([
      { provider: 'one', result: reason },
      { provider: 'two', result: 'ok' },
    ])
  })

  test.each<[string, Reply, string | undefined]>([
    ['names its error', status(429, { error: { type: 'tokens', code: 'rate_limited' } }), 'tokens rate_limited'],
    ['quotes the prompt', status(500, { error: { message: 'Hello', type: 'Hello there', code: 'a b' } }), undefined],
    ['quotes our key as its code', status(401, { error: { code: `sk-${'a'.repeat(40)}` } }), '[key]'],
    ['breaks the connection', breakOff, 'The upstream broke the connection (ECONNRESET).'],
  ])(
    'of a route that %s the row keeps names and our own words only, and the caller is told neither',
    async (_, reply, said) => {
      first.reply = reply
      const { row, secret } = await gateway.ask()
      expect(row.attempts.map((attempt) => attempt.said)).toEqual([said, undefined])
      const told = await gateway.get(secret, `/v1/usage/${row.requestId}`)
      expect(await told.text()).not.toContain('said')
    },
  )

  test('a route that does not support a field of the request gives way to the next, and does not count as failing', async () => {
    const asked = { model: 'mixed', n: 2 }
    for (let i = 0; i < 3; i++) {
      const { response } = await gateway.ask(asked)
      expect(response.headers.get('x-svc-attempts')).toBe('two=ok')
    }
    const pinned = await gateway.ask(asked, { headers: { 'X-Svc-Route': 'claude' } })
    expect(pinned).toMatchObject({ status: 400, error: { param: 'n' } })
    expect(first.requests).toHaveLength(0)
  })

  const busy = (retryAfter?: string) =>
    status(429, { error: { message: 'slow down' } }, retryAfter === undefined ? {} : { 'Retry-After': retryAfter })

  test.each<[first: string | undefined, second: string | undefined, told: string | null]>([
    ['20', '7', '7'],
    ['3', undefined, '3'],
    [undefined, undefined, null],
    ['86400', '100000', '300'],
    ['-5', 'soon', null],
    ['0', '0', null],
  ])(
    'a request whose routes are all at their rate limit (Retry-After %s and %s) is a free 503 with Retry-After %s',
    async (one, two, told) => {
      first.reply = busy(one)
      second.reply = busy(two)
      const errorCode = 'upstream_rate_limited'
      for (const stream of [false, true]) {
        const { response, error, row, key } = await gateway.ask({ stream })
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, told])
        expect(response.headers.get('x-svc-attempts')?.split(', ').sort()).toEqual(['one=status 429', 'two=status 429'])
        expect(error).toMatchObject({ type: 'server_error', code: errorCode })
        expect(row).toMatchObject({ outcome: 'upstream_error', httpStatus: 503, errorCode, cost: 0n })
        expect(key).toMatchObject({ spent: 0n, holds: {} })
      }
      const counted = gateway.logged().filter(({ event }) => event === 'request')
      expect(counted.map(({ ServerErrors, UpstreamErrors }) => [ServerErrors, UpstreamErrors])).toEqual(
        Array(2).fill([undefined, 1]),
      )
    },
  )

  test.each<[string, Reply, Reply]>([
    ['the first', busy('7'), status(500, {})],
    ['the second', status(500, {}), busy('7')],
  ])('a request of whose routes only %s is at its rate limit is a 502 without Retry-After', async (_, one, two) => {
    first.reply = one
    second.reply = two
    const { response, row } = await gateway.ask()
    expect([response.status, response.headers.get('retry-after')]).toEqual([502, null])
    // So that its failure is one of a provider.
    expect(row.provider).toBe(row.attempts[1]?.provider)
  })
})

const answer = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'alpha ' }),
  chunk({ content: 'beta' }),
  chunk({}, 'stop'),
  DONE,
].join('')

test('no text and no charge comes twice, at whichever byte the first route breaks off', async () => {
  const { key, secret } = await gateway.issue({ rpm: 60_000 })
  const ids: (string | null)[] = []
  for (let cut = 0; cut < answer.length; cut += someTimes(21, 7)) {
    first.reply = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(answer.slice(0, cut), () => response.socket?.destroy())
    }
    nowMs += 400_000
    const whole = await gateway.post(secret, HELLO)
    const { choices } = (await whole.json()) as { choices: { message: { content: string } }[] }
    expect(['two', 'alpha beta']).toContain(choices[0]?.message.content)
    const stream = await gateway.post(secret, { ...HELLO, stream: true })
    const events = (await stream.text()).split('\n\n').filter((event) => event.startsWith('data: {'))
    const text = events.map((event) => JSON.parse(event.slice(6)).choices?.[0]?.delta?.content ?? '').join('')
    const isBroken = events.some((event) => event.includes('"error"'))
    expect(isBroken ? ['alpha ', 'alpha beta'] : ['two', 'alpha beta']).toContain(text)
    ids.push(whole.headers.get('x-request-id'), stream.headers.get('x-request-id'))
  }
  const rows = await Promise.all(ids.map((id) => gateway.readRow(id)))
  const after = await gateway.readKey(key.id)
  expect(after.spent).toBe(rows.reduce((sum, { cost }) => sum + cost, 0n))
  expect(after.holds).toEqual({})
  expect(booksBalance(after)).toBe(true)
})

test('a usage row notes an attempt whose stream breaks as failed, with the time until the break', async () => {
  first.reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(chunk({ content: 'Hel' }), () => {
      nowMs += 1_234
      response.socket?.destroy()
    })
  }
  const { attempts } = (await gateway.ask({ stream: true })).row
  expect(attempts).toMatchObject([{ provider: 'one', result: 'reset' }])
  expect(attempts[0]?.ms).toBeGreaterThanOrEqual(1_234)
})

test.each([true, false])(
  'a usage row notes the time of an attempt until its answer is complete (stream: %s)',
  async (stream) => {
    first.reply = async (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(chunk({ content: 'Hel' }))
      await new Promise((resolve) => setTimeout(resolve, 30))
      nowMs += 2_000
      response.end(chunk({ content: 'lo' }, 'stop') + DONE)
    }
    const { attempts } = (await gateway.ask({ stream })).row
    expect(attempts).toMatchObject([{ provider: 'one', result: 'ok' }])
    expect(attempts[0]?.ms).toBeGreaterThanOrEqual(2_000)
  },
)

test('the catalog can give a provider extra headers, another field for the token cap and no stream_options', async () => {
  const odd = { headers: { 'X-Title': 'Waybill' }, capField: 'max_completion_tokens', streamOptions: false }
  await (await openFor(catalogFor(first.url, {}, odd))).ask({ max_tokens: 9 })
  expect(first.requests[0]?.headers['x-title']).toBe('Waybill')
  expect(first.requests[0]?.body).toMatchObject({ max_completion_tokens: 9 })
  expect(first.requests[0]?.body).not.toHaveProperty('max_tokens')
  expect(first.requests[0]?.body).not.toHaveProperty('stream_options')
})

describe('routes that keep failing', () => {
  /** Each time another request of another key: one caller alone rests no route. */
  async function asker() {
    const keys = [await gateway.issue({ rpm: 60_000 }), await gateway.issue({ rpm: 60_000 })]
    let times = 0
    return (body: object = {}) => {
      times += 1
      return gateway.post(keys[times % 2]?.secret ?? '', { ...HELLO, user: `caller ${times}`, ...body })
    }
  }

  test('a route that fails twice is left out for a while, and is then tried again', async () => {
    first.reply = status(500, {})
    const post = await asker()
    const ask = async () => (await post()).headers.get('x-svc-attempts')
    const failed = 'one=status 500, two=ok'
    expect([await ask(), await ask(), await ask()]).toEqual([failed, failed, 'two=ok'])
    nowMs += 2_000
    expect(await ask()).toBe(failed)
    nowMs += 1_900
    expect(await ask()).toBe('two=ok')
    nowMs += 2_100
    first.reply = say('one')
    expect([await ask(), await ask()]).toEqual(['one=ok', 'one=ok'])
  })

  test('a route that fails twice in the middle of its answers is left out for a while, and the log says so', async () => {
    first.reply = sse([chunk({ role: 'assistant', content: 'on' })])
    const post = await asker()
    const ask = async () => (await post({ stream: true })).text()
    for (let i = 0; i < 2; i++) expect(await ask()).toContain('"error"')
    expect(await ask()).toContain('"content":"two"')
    expect(gateway.logLines.filter((line) => line.includes('"upstream_failed"'))).toHaveLength(2)
  })

  test('a route that sends Retry-After is left out for as long as it asks', async () => {
    first.reply = status(429, {}, { 'Retry-After': '40' })
    const post = await asker()
    const ask = async () => (await post()).headers.get('x-svc-attempts')
    const busy = 'one=status 429, two=ok'
    expect([await ask(), await ask()]).toEqual([busy, 'two=ok'])
    nowMs += 39_999
    expect(await ask()).toBe('two=ok')
    nowMs += 1
    expect(await ask()).toBe('one=status 429, two=ok')
  })

  test('a route that was left out is still used when every other one fails', async () => {
    first.reply = status(500, {})
    const post = await asker()
    for (let i = 0; i < 3; i++) await post()
    second.reply = status(500, {})
    first.reply = say('one')
    const response = await post()
    expect(response.headers.get('x-svc-attempts')).toBe('two=status 500, one=ok')
  })
})

test('a fallback model answers under the name and at the price of the requested one, and the row says so', async () => {
  first.reply = status(500, {})
  const { text, row } = await gateway.ask({ model: 'falls-back', max_tokens: 900 })
  expect(JSON.parse(text)).toMatchObject({ model: 'falls-back', choices: [{ message: { content: 'two' } }] })
  expect(second.requests[0]?.body).toMatchObject({ model: 'cheap-2', max_tokens: 50 })
  expect(row).toMatchObject({ model: 'falls-back', fallbackModel: 'cheap', upstreamModel: 'cheap-2', cost: 20_000n })
})

test('routes of equal priority are chosen by weight', async () => {
  const { secret } = await gateway.issue({ rpm: 60_000 })
  const responses = await Promise.all(
    Array.from({ length: 120 }, () => gateway.post(secret, { ...HELLO, model: 'weighted' })),
  )
  const twos = responses.filter((response) => response.headers.get('x-svc-provider') === 'two').length
  // 3 of 4; six standard deviations to either side.
  expect(twos).toBeGreaterThan(60)
  expect(twos).toBeLessThan(119)
})

test('X-Svc-Route limits a request to the providers that it names, in their order', async () => {
  const ask = async (route: string) => {
    const { response } = await gateway.ask({}, { headers: { 'X-Svc-Route': route } })
    return [response.status, response.headers.get('x-svc-attempts')]
  }
  expect(await ask('two')).toEqual([200, 'two=ok'])
  expect(await ask('two, one')).toEqual([200, 'two=ok'])
  second.reply = status(500, {})
  expect(await ask('two')).toEqual([502, 'two=status 500'])
  expect(await ask('two,one')).toEqual([200, 'two=status 500, one=ok'])
})

test.each(['three', '', 'one,', 'one;two', 'http://127.0.0.1:1/', '*'])(
  'a request with the X-Svc-Route %j is a 400 that names the choices',
  async (route) => {
    const { status: code, error } = await gateway.ask({}, { headers: { 'X-Svc-Route': route } })
    expect([code, error.message]).toEqual([400, expect.stringMatching(/two, one|one, two/)])
  },
)

describe('routes that cost more than the model’s price', () => {
  const OVER = { input: '5', output: '2' }
  const route = (provider: string, model: string, cost?: object) => ({ ...to(provider, model), ...(cost && { cost }) })

  async function openWith(model: object = {}) {
    const opened = await openFor(
      requireCatalog({
        providers,
        models: [
          {
            ...MODEL,
            id: 'test-model',
            routes: [route('one', 'm1'), route('two', 'm2', OVER)],
            fallback: ['dear'],
            ...model,
          },
          { ...MODEL, id: 'dear', price: OVER, routes: [route('one', 'dear-1', OVER)] },
        ],
      }),
    )
    return async (pin: string) => {
      const { response, error } = await opened.ask({}, { headers: { 'X-Svc-Route': pin } })
      return { status: response.status, attempts: response.headers.get('x-svc-attempts'), error }
    }
  }

  test.each(['two', 'one,two', 'two,one'])('X-Svc-Route %s is a 400 that does not offer such a route', async (pin) => {
    const ask = await openWith()
    const { status: code, error } = await ask(pin)
    expect([code, error?.code]).toEqual([400, 'invalid_route'])
    expect(error?.message).toMatch(/'two' costs more than the price.*: one\.$/)
    expect(second.requests).toEqual([])
  })

  test.each<[string, object]>([
    ['a cached token', { input: '0', output: '0', cachedInput: '1.000001' }],
    ['a token that is written to a cache', { input: '0', output: '0', cacheWrite: '1.250001' }],
    ['a completion token', { input: '0', output: '2.000001' }],
    ['a request', { input: '0', output: '0', request: '0.000000001' }],
    ['an image', { input: '0', output: '0', image: '0.000000001' }],
  ])('a route where only %s costs more cannot be pinned either', async (_, cost) => {
    const ask = await openWith({ routes: [route('one', 'm1'), route('two', 'm2', cost)] })
    expect((await ask('two')).status).toBe(400)
  })

  test.each<[string, object]>([
    ['that costs exactly the price', { routes: [route('one', 'm1'), route('two', 'm2', MODEL.price)] }],
    ['that costs more, if the model says so,', { pinnable: true }],
  ])('a route %s can be pinned', async (_, model) => {
    const ask = await openWith(model)
    expect(await ask('two')).toMatchObject({ status: 200, attempts: 'two=ok' })
  })

  test('a provider that can be pinned for one of its routes is not asked by the dearer one', async () => {
    const ask = await openWith({ routes: [route('two', 'm2', OVER), route('two', 'cheap', MODEL.price)] })
    second.reply = status(500, {})
    expect(await ask('two')).toMatchObject({ status: 502, attempts: 'two=status 500' })
    expect(second.requests.map(({ body }) => body.model)).toEqual(['cheap'])
  })

  test('a pinned provider that fails leads to no dearer route of a fallback model', async () => {
    const ask = await openWith()
    first.reply = status(500, {})
    expect(await ask('one')).toMatchObject({ status: 502, attempts: 'one=status 500' })
    expect(first.requests.map(({ body }) => body.model)).toEqual(['m1'])
  })
})
