import { beforeEach, describe, expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import { explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { chunk, DONE, say, sse, status, USAGE, usageChunk } from '../support/upstream.ts'

const { upstream, gateway } = await openBoth()
beforeEach(() => {
  upstream.reply = say('Hello')
})

/** Asks once for JSON and once for a stream, and returns both answers. */
async function askBoth(fields: object = {}) {
  const whole = await gateway.ask(fields)
  const stream = await gateway.ask({ ...fields, stream: true, stream_options: { include_usage: true } })
  for (const { key, row } of [whole, stream]) expect([key.holds, key.spent]).toEqual([{}, row.cost])
  return { whole, stream, rows: [whole.row, stream.row] }
}

const MANY_TOKENS = 'one two three four five six seven eight nine ten '.repeat(20)

describe('the reason for which an answer ended', () => {
  test.each([
    ['that of the upstream', [chunk({ content: 'Hello' }), chunk({}, 'content_filter'), DONE], {}, 'content_filter'],
    ['stop, if we do not know the upstream’s', [chunk({ content: 'Hi' }), chunk({}, 'bored'), DONE], {}, 'stop'],
    ['length, if it was cut', [chunk({ content: MANY_TOKENS }), chunk({}, 'stop'), DONE], { max_tokens: 5 }, 'length'],
    ['none, if it broke off', [chunk({ content: 'Hel' })], {}, undefined],
  ])('is in its row: %s', async (_, frames, fields, reason) => {
    upstream.reply = sse(frames)
    expect((await gateway.ask({ ...fields, stream: true })).row.finishReason).toBe(reason)
  })
})

describe('costs', () => {
  test('the cost of an answer is in the header, usage.cost, the stream’s comment, the row and GET /v1/usage', async () => {
    const { whole, stream } = await askBoth()
    expect(whole.response.headers.get('x-svc-cost')).toBe('0.00002')
    expect(whole.response.headers.get('x-svc-provider')).toBe('up')
    const message = { role: 'assistant', content: 'Hello', refusal: null }
    expect(JSON.parse(whole.text)).toMatchObject({
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 0 }, cost: 0.00002 },
    })
    expect(stream.response.headers.get('x-svc-cost')).toBeNull()
    expect(stream.text).toContain('"cost":0.00002}')
    expect(stream.text.endsWith(': x-svc-cost 0.00002\n\ndata: [DONE]\n\n')).toBe(true)
    const seen = await gateway.get(stream.secret, `/v1/usage/${stream.row.requestId}`)
    expect(await seen.json()).toMatchObject({
      object: 'usage',
      key_id: stream.key.id,
      cost: '0.00002',
      outcome: 'completed',
      stream: true,
      usage_source: 'upstream',
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      provider: 'up',
      upstream_model: 'upstream-model',
      pricing: { prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000005' },
    })
  })

  test('a cost of a few nanocredits is written as a JSON number without an exponent, in JSON, stream and replay alike', async () => {
    const cheap = await openFor(catalogFor(upstream.url, { price: { input: '0.001', output: '0.002' } }))
    const { secret } = await cheap.issue()
    const retry = { 'Idempotency-Key': 'a' }
    const asked = await (await cheap.post(secret, HELLO, retry)).text()
    expect(asked).toContain('"cost":0.00000002}')
    expect(await (await cheap.post(secret, HELLO, retry)).text()).toBe(asked)
    const streamed = { ...HELLO, stream: true, stream_options: { include_usage: true } }
    expect(await (await cheap.post(secret, streamed)).text()).toContain('"cost":0.00000002}')
  })

  test('the cost of a stream is on the books when the client sees the end of the stream', async () => {
    const { key, secret } = await gateway.issue()
    const response = await gateway.post(secret, { ...HELLO, stream: true })
    let text = ''
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    while (reader && !text.includes('[DONE]')) text += (await reader.read()).value ?? ''
    expect((await gateway.readKey(key.id)).spent).toBe(20_000n)
    expect((await gateway.readRow(response.headers.get('x-request-id'))).cost).toBe(20_000n)
  })

  test.each([
    ['a negative prompt count', { prompt_tokens: -5, completion_tokens: 5 }, { completionTokens: 5 }],
    ['a fractional prompt count', { prompt_tokens: 1.5, completion_tokens: 5 }, { completionTokens: 5 }],
    ['a prompt count in text', { prompt_tokens: '10', completion_tokens: 5 }, { completionTokens: 5 }],
    ['no completion count', { prompt_tokens: 10 }, { promptTokens: 10, completionTokens: 1 }],
    [
      'half a completion token',
      { prompt_tokens: 10, completion_tokens: 0.5 },
      { promptTokens: 10, completionTokens: 1 },
    ],
    ['no counts', {}, { completionTokens: 1 }],
    ['nothing but zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, { completionTokens: 1 }],
    ['a completion count of 0', { prompt_tokens: 10, completion_tokens: 0 }, { promptTokens: 10, completionTokens: 1 }],
    ['a prompt count of 0', { prompt_tokens: 0, completion_tokens: 5 }, { completionTokens: 5 }],
  ])(
    'an answer whose usage report has %s is charged by an estimate, and its row is flagged',
    async (_, usage, counted) => {
      upstream.reply = say('Hello', usage)
      const { rows } = await askBoth()
      for (const row of rows) {
        expect(row).toMatchObject({ usageSource: 'estimate', usageRejected: true, ...counted })
        expect(row.promptTokens).toBeGreaterThan(5)
        expect(row.cost).toBe(BigInt(row.promptTokens) * 1_000n + BigInt(row.completionTokens) * 2_000n)
      }
    },
  )

  test.each([
    ['10,000,000 completion tokens', { prompt_tokens: 10, completion_tokens: 10_000_000 }],
    ['counts of 1e300', { prompt_tokens: 1e300, completion_tokens: 1e300, total_tokens: 1e300 }],
    ['a prompt count above its bound', { prompt_tokens: 5_000_000, completion_tokens: 1 }],
    [
      '1,000,000,000 cached tokens',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 1e9 } },
    ],
  ])('an answer whose usage report has %s is charged exactly its hold, and its row says so', async (_, usage) => {
    upstream.reply = say('Hello', usage)
    const { rows } = await askBoth()
    for (const row of rows) {
      expect(row).toMatchObject({ usageSource: 'upstream', usageRejected: false, usageCapped: true, cost: row.hold })
      expect(row.hold).toBeGreaterThan(0n)
    }
  })

  test('thinking that a provider counts in the total only is charged as completion tokens', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 415 })
    const { rows } = await askBoth()
    for (const row of rows) {
      const thought = { completionTokens: 405, reasoningTokens: 400, cost: 820_000n, usageSource: 'upstream' }
      expect(row).toMatchObject(thought)
    }
    upstream.reply = say('Hello', { ...USAGE, completion_tokens_details: { reasoning_tokens: 3 } })
    for (const row of (await askBoth()).rows) expect(row).toMatchObject({ reasoningTokens: 3, cost: 20_000n })
  })

  test('an answer without a usage report is charged by the tokenizer’s estimate, the same for JSON and streams', async () => {
    upstream.reply = say('The quick brown fox jumps over the lazy dog.', null)
    const { rows, stream } = await askBoth()
    for (const row of rows) {
      expect(row).toMatchObject({ usageSource: 'estimate', usageRejected: false, completionTokens: 10 })
      // "user" + "Hello" and the template of one message.
      expect(row.promptTokens).toBeGreaterThanOrEqual(8)
      expect(row.promptTokens).toBeLessThanOrEqual(12)
    }
    expect(stream.text).toContain('"completion_tokens":10')
  })

  test('the estimate of a 200 KB prompt of one repeated letter is within 1 % and ready in time', async () => {
    upstream.reply = sse([chunk({ content: 'a'.repeat(50_000) }, 'stop'), DONE])
    const { row } = await gateway.ask({ messages: [{ role: 'user', content: 'a'.repeat(200 * 1024) }] })
    expect(Math.abs(row.promptTokens / 25_600 - 1)).toBeLessThan(0.01)
    expect(row.completionTokens).toBe(1000)
  })

  test('an answer with a usage report in every chunk is charged by the last one', async () => {
    const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 10, completion_tokens } })
    upstream.reply = sse([chunk({ content: 'a' }, null, usage(1)), chunk({ content: 'b' }, 'stop', usage(2)), DONE])
    const { rows } = await askBoth()
    for (const row of rows) expect(row).toMatchObject({ completionTokens: 2, cost: 14_000n })
  })
})

test.each([
  ['an error in place of an answer is free', status(500, 'x'), 0n],
  [
    'a request that was accepted, and of whose answer nothing came, costs its prompt',
    sse([chunk({ content: '' })]),
    10_000n,
  ],
])('%s', async (_, reply, cost) => {
  upstream.reply = reply
  const { whole, stream, rows } = await askBoth()
  expect([whole.status, stream.status]).toEqual([502, 502])
  for (const row of rows) {
    expect(row).toMatchObject({ outcome: 'upstream_error', errorCode: 'upstream_error', cost })
  }
})

test('an answer that fails midway costs what had come of it, as JSON and as a stream', async () => {
  upstream.reply = sse([chunk({ role: 'assistant', content: 'The quick brown fox' })])
  const { whole, stream, rows } = await askBoth()
  expect([whole.status, stream.status]).toEqual([502, 200])
  for (const words of ['The quick brown fox', '"code":"upstream_error"']) expect(stream.text).toContain(words)
  expect(stream.text).not.toContain('[DONE]')
  const broken = { outcome: 'upstream_error', usageSource: 'estimate', completionTokens: 4 }
  expect(rows).toMatchObject([broken, broken])
})

describe('holds', () => {
  test('a hold is the worst case of its request, and the unused part comes back', async () => {
    const { row, key } = await gateway.ask({ max_tokens: 100 })
    const promptBound = BigInt(JSON.stringify({ ...HELLO, max_tokens: 100 }).length + 64 + 16)
    expect(row.hold).toBe(promptBound * 1000n + 100n * 2000n)
    expect(key.available).toBe(key.granted - row.cost)
  })

  test('a hold covers every choice, tool and image of its request', async () => {
    const hold = async (extra: object) => (await gateway.ask({ max_tokens: 100, ...extra })).row.hold
    const plain = await hold({})
    expect((await hold({ n: 3 })) - plain).toBe(2n * 100n * 2000n + 6n * 1000n)
    const image = [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.test/cat.png' } }] },
    ]
    expect((await hold({ messages: image })) - plain).toBeGreaterThan(50_000_000n)
    expect((await hold({ tools: [{ type: 'function', function: { name: 'f' } }] })) - plain).toBeGreaterThan(1_000_000n)
  })

  test('no charge is larger than its hold, whatever an upstream claims or delivers', async () => {
    upstream.reply = sse([chunk({ content: 'word '.repeat(2_000) }, 'stop'), DONE])
    const { row } = await gateway.ask({ max_tokens: 10 })
    expect([row.completionTokens, row.cost <= row.hold]).toEqual([10, true])
  })

  test('the upstream always gets a token cap: the client’s, the larger of two, or the model’s', async () => {
    const sent = async (extra: object) => {
      await gateway.ask(extra)
      const { max_tokens, max_completion_tokens } = upstream.requests.at(-1)?.body ?? {}
      return { max_tokens, max_completion_tokens }
    }
    expect(await sent({})).toEqual({ max_tokens: 1000 })
    expect(await sent({ max_tokens: 7 })).toEqual({ max_tokens: 7 })
    expect(await sent({ max_tokens: 32_000 })).toEqual({ max_tokens: 1000 })
    expect(await sent({ max_completion_tokens: 2 ** 53 - 1 })).toEqual({ max_tokens: 1000 })
    expect(await sent({ max_completion_tokens: 8 })).toEqual({ max_tokens: 8 })
    expect(await sent({ max_tokens: 7, max_completion_tokens: 9 })).toEqual({ max_tokens: 9 })
  })

  test.each([
    ['/v1/responses', { input: 'Hello', max_output_tokens: 1001 }],
    ['/v1/messages', { messages: HELLO.messages, max_tokens: 1001 }],
  ])('a token cap above the model’s is lowered to it at %s, too', async (path, fields) => {
    const { response, row } = await gateway.ask({ model: HELLO.model, ...fields }, { path })
    expect([response.status, response.headers.get('x-svc-lowered-max-tokens')]).toEqual([200, '1000'])
    expect(row).toMatchObject({ askedMaxTokens: 1001, loweredMaxTokens: 1000, outcome: 'completed' })
  })

  test.each([false, true])(
    'a token cap above the model’s is lowered to it before the hold: header, row and GET /v1/usage say so (stream: %s)',
    async (stream) => {
      const ask = async (max_tokens: number) => {
        const asked = await gateway.ask({ max_tokens, stream })
        const seen = await gateway.get(asked.secret, `/v1/usage/${asked.row.requestId}`)
        return { ...asked, seen: await seen.json() }
      }
      const most = await ask(1000)
      const more = await ask(1001)
      expect(more.response.status).toBe(200)
      expect(more.response.headers.get('x-svc-lowered-max-tokens')).toBe('1000')
      expect(more.row).toMatchObject({ askedMaxTokens: 1001, loweredMaxTokens: 1000, hold: most.row.hold })
      expect(more.seen).toMatchObject({ asked_max_tokens: 1001, lowered_max_tokens: 1000 })
      expect(most.response.headers.get('x-svc-lowered-max-tokens')).toBeNull()
      expect(most.row).not.toHaveProperty('askedMaxTokens')
      expect(most.seen).toMatchObject({ asked_max_tokens: null, lowered_max_tokens: null })
    },
  )

  test('a token cap that the client left open is lowered to what the balance covers, which is told in a header and the row, but not below 16', async () => {
    const { response, row } = await gateway.ask({}, { credits: '0.001' })
    const lowered = Number(response.headers.get('x-svc-lowered-max-tokens'))
    expect([response.status, lowered >= 16 && lowered < 1000]).toEqual([200, true])
    expect(upstream.requests.at(-1)?.body.max_tokens).toBe(lowered)
    expect([row.askedMaxTokens, row.loweredMaxTokens]).toEqual([undefined, lowered])
    expect(explanationLines(explainRequest(row, undefined, Date.now())).join('\n')).toContain(
      `lowered to ${lowered}, the most that its credits and limits covered`,
    )
    expect((await gateway.ask({}, { credits: '0.00016' })).status).toBe(402)
  })

  test('a client that did not ask for usage never gets the upstream’s usage report', async () => {
    upstream.reply = sse([chunk({ content: 'a' }, 'stop'), usageChunk(USAGE), DONE])
    const { text } = await gateway.ask({ stream: true })
    expect(text).not.toContain('"usage"')
    expect(text).not.toContain('"choices":[]')
  })
})
