import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { explanationLines } from '../../cli/commands/usage.ts'
import { explainRequest } from '../../layers/admin/explain/explain-request.ts'
import { booksBalance, catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { chunk, DONE, say, sse, status, type Upstream, USAGE, usageChunk } from '../support/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  const both = await openBoth()
  upstream = both.upstream
  gateway = both.gateway
})
beforeEach(() => {
  upstream.reply = say('Hello')
})

/** Asks once for JSON and once for a stream, and returns both answers and both rows. */
async function askBoth(body: object = HELLO) {
  const { key, secret } = await gateway.issue()
  const whole = await gateway.post(secret, body)
  const wholeText = await whole.text()
  const stream = await gateway.post(secret, { ...body, stream: true, stream_options: { include_usage: true } })
  const streamText = await stream.text()
  const after = await gateway.readKey(key.id)
  expect(booksBalance(after)).toBe(true)
  expect(after.holds).toEqual({})
  const wholeRow = await gateway.readRow(whole.headers.get('x-request-id'))
  const streamRow = await gateway.readRow(stream.headers.get('x-request-id'))
  expect(after.spent).toBe(wholeRow.cost + streamRow.cost)
  return { whole, wholeText, wholeRow, stream, streamText, streamRow }
}

describe('costs', () => {
  test('the cost of an answer is in the header, usage.cost, the stream’s comment, the row and GET /v1/usage', async () => {
    const { key, secret } = await gateway.issue()
    const whole = await gateway.post(secret, HELLO)
    expect(whole.headers.get('x-svc-cost')).toBe('0.00002')
    expect(whole.headers.get('x-svc-provider')).toBe('up')
    expect(((await whole.json()) as { usage: object }).usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 0 },
      cost: 0.00002,
    })
    const stream = await gateway.post(secret, { ...HELLO, stream: true, stream_options: { include_usage: true } })
    expect(stream.headers.get('x-svc-cost')).toBeNull()
    const text = await stream.text()
    expect(text).toContain('"cost":0.00002}')
    expect(text.endsWith(': x-svc-cost 0.00002\n\ndata: [DONE]\n\n')).toBe(true)
    const seen = await gateway.get(secret, `/v1/usage/${stream.headers.get('x-request-id')}`)
    expect(await seen.json()).toMatchObject({
      object: 'usage',
      key_id: key.id,
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

  test('cached prompt tokens are charged at their own price', async () => {
    upstream.reply = say('Hello', { ...USAGE, prompt_tokens_details: { cached_tokens: 4 } })
    const { wholeRow, streamRow } = await askBoth()
    for (const row of [wholeRow, streamRow]) expect(row).toMatchObject({ cachedTokens: 4, cost: 18_000n })
  })

  test.each([
    ['a negative prompt count', { prompt_tokens: -5, completion_tokens: 5 }, { completionTokens: 5 }],
    ['a fractional prompt count', { prompt_tokens: 1.5, completion_tokens: 5 }, { completionTokens: 5 }],
    ['a prompt count in text', { prompt_tokens: '10', completion_tokens: 5 }, { completionTokens: 5 }],
    ['no completion count', { prompt_tokens: 10 }, { promptTokens: 10, completionTokens: 1 }],
    [
      'a fractional completion count',
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
      const { wholeRow, streamRow } = await askBoth()
      for (const row of [wholeRow, streamRow]) {
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
    const { wholeRow, streamRow } = await askBoth()
    for (const row of [wholeRow, streamRow]) {
      expect(row).toMatchObject({ usageSource: 'upstream', usageRejected: false, usageCapped: true, cost: row.hold })
      expect(row.hold).toBeGreaterThan(0n)
    }
  })

  test('cached tokens that a provider counts beside the prompt are charged as part of the prompt', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 45,
      prompt_tokens_details: { cached_tokens: 30 },
    }
    upstream.reply = say('Hello', usage)
    const { wholeRow, streamRow } = await askBoth()
    for (const row of [wholeRow, streamRow]) {
      expect(row).toMatchObject({ promptTokens: 40, cachedTokens: 30, completionTokens: 5, cost: 35_000n })
    }
  })

  test('thinking that a provider counts in the total only is charged as completion tokens', async () => {
    upstream.reply = say('Hello', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 415 })
    const { wholeRow, streamRow } = await askBoth()
    for (const row of [wholeRow, streamRow]) {
      expect(row).toMatchObject({
        completionTokens: 405,
        reasoningTokens: 400,
        cost: 820_000n,
        usageSource: 'upstream',
      })
    }
    upstream.reply = say('Hello', { ...USAGE, completion_tokens_details: { reasoning_tokens: 3 } })
    const told = await askBoth()
    for (const row of [told.wholeRow, told.streamRow]) expect(row).toMatchObject({ reasoningTokens: 3, cost: 20_000n })
  })

  test('an answer without a usage report is charged by the tokenizer’s estimate, the same for JSON and streams', async () => {
    upstream.reply = say('The quick brown fox jumps over the lazy dog.', null)
    const { wholeRow, streamRow, streamText } = await askBoth()
    for (const row of [wholeRow, streamRow]) {
      expect(row).toMatchObject({ usageSource: 'estimate', usageRejected: false, completionTokens: 10 })
      // "user" + "Hello" and the template of one message.
      expect(row.promptTokens).toBeGreaterThanOrEqual(8)
      expect(row.promptTokens).toBeLessThanOrEqual(12)
    }
    expect(streamText).toContain('"completion_tokens":10')
  })

  test('the estimate of a 200 KB prompt of one repeated letter is within 1 % and ready in time', async () => {
    upstream.reply = sse([chunk({ content: 'a'.repeat(50_000) }, 'stop'), DONE])
    const { wholeRow } = await askBoth({ ...HELLO, messages: [{ role: 'user', content: 'a'.repeat(200 * 1024) }] })
    expect(Math.abs(wholeRow.promptTokens / 25_600 - 1)).toBeLessThan(0.01)
    expect(wholeRow.completionTokens).toBe(1000)
  })

  test('an answer with a usage report in every chunk is charged by the last one', async () => {
    const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 10, completion_tokens } })
    upstream.reply = sse([chunk({ content: 'a' }, null, usage(1)), chunk({ content: 'b' }, 'stop', usage(2)), DONE])
    const { wholeRow, streamRow } = await askBoth()
    for (const row of [wholeRow, streamRow]) expect(row).toMatchObject({ completionTokens: 2, cost: 14_000n })
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
  const { whole, wholeRow, stream, streamRow } = await askBoth()
  expect([whole.status, stream.status]).toEqual([502, 502])
  for (const row of [wholeRow, streamRow]) {
    expect(row).toMatchObject({ outcome: 'upstream_error', errorCode: 'upstream_error', cost })
  }
})

test('an answer that fails midway costs what had come of it, as JSON and as a stream', async () => {
  upstream.reply = sse([chunk({ role: 'assistant', content: 'The quick brown fox' })])
  const { whole, wholeRow, stream, streamRow, streamText } = await askBoth()
  expect(whole.status).toBe(502)
  expect(wholeRow).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate', completionTokens: 4 })
  expect(stream.status).toBe(200)
  expect(streamText).toContain('The quick brown fox')
  expect(streamText).toContain('"code":"upstream_error"')
  expect(streamText).not.toContain('[DONE]')
  expect(streamRow).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate', completionTokens: 4 })
})

describe('holds', () => {
  test('a hold is the worst case of its request, and the unused part comes back', async () => {
    const { key, secret } = await gateway.issue()
    const body = { ...HELLO, max_tokens: 100 }
    const row = await gateway.readRow((await gateway.post(secret, body)).headers.get('x-request-id'))
    const promptBound = BigInt(JSON.stringify(body).length + 64 + 16)
    expect(row.hold).toBe(promptBound * 1000n + 100n * 2000n)
    expect((await gateway.readKey(key.id)).available).toBe(10_000_000_000n - row.cost)
  })

  test('a hold covers every choice, tool and image of its request', async () => {
    const { secret } = await gateway.issue()
    const hold = async (extra: object) =>
      (
        await gateway.readRow(
          (await gateway.post(secret, { ...HELLO, max_tokens: 100, ...extra })).headers.get('x-request-id'),
        )
      ).hold
    const plain = await hold({})
    expect((await hold({ n: 3 })) - plain).toBe(2n * 100n * 2000n + 6n * 1000n)
    const image = [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.test/cat.png' } }] },
    ]
    expect((await hold({ messages: image })) - plain).toBeGreaterThan(50_000_000n)
    expect((await hold({ tools: [{ type: 'function', function: { name: 'f' } }] })) - plain).toBeGreaterThan(1_000_000n)
  })

  test('no charge is larger than its hold, whatever an upstream claims or delivers', async () => {
    const { key, secret } = await gateway.issue()
    upstream.reply = sse([chunk({ content: 'word '.repeat(2_000) }, 'stop'), DONE])
    const response = await gateway.post(secret, { ...HELLO, max_tokens: 10 })
    const row = await gateway.readRow(response.headers.get('x-request-id'))
    expect(row.completionTokens).toBe(10)
    expect(row.cost <= row.hold).toBe(true)
    expect(booksBalance(await gateway.readKey(key.id))).toBe(true)
  })

  test('the upstream always gets a token cap: the client’s, the larger of two, or the model’s', async () => {
    const { secret } = await gateway.issue()
    const sent = async (extra: object) => {
      await (await gateway.post(secret, { ...HELLO, ...extra })).text()
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
    const { secret } = await gateway.issue()
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ model: HELLO.model, ...fields })
    const response = await fetch(`${gateway.baseUrl}${path}`, { method: 'POST', headers, body })
    expect([response.status, response.headers.get('x-svc-lowered-max-tokens')]).toEqual([200, '1000'])
    await response.text()
    const row = await gateway.readRow(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ askedMaxTokens: 1001, loweredMaxTokens: 1000, outcome: 'completed' })
  })

  test.each([false, true])(
    'a token cap above the model’s is lowered to it before the hold: header, row and GET /v1/usage say so (stream: %s)',
    async (stream) => {
      const { secret } = await gateway.issue()
      const ask = async (max_tokens: number) => {
        const response = await gateway.post(secret, { ...HELLO, max_tokens, stream })
        await response.text()
        const id = response.headers.get('x-request-id')
        return {
          response,
          row: await gateway.readRow(id),
          seen: await (await gateway.get(secret, `/v1/usage/${id}`)).json(),
        }
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

  test('a token cap that was lowered to the balance is told in a header, in the row and by GET /v1/usage', async () => {
    const { secret } = await gateway.issue({ credits: '0.001' })
    const response = await gateway.post(secret, HELLO)
    await response.text()
    const lowered = Number(response.headers.get('x-svc-lowered-max-tokens'))
    const row = await gateway.readRow(response.headers.get('x-request-id'))
    expect([response.status, lowered >= 16 && lowered < 1000]).toEqual([200, true])
    expect(upstream.requests.at(-1)?.body.max_tokens).toBe(lowered)
    expect([row.askedMaxTokens, row.loweredMaxTokens]).toEqual([undefined, lowered])
    expect(explanationLines(explainRequest(row, undefined, Date.now())).join('\n')).toContain(
      `lowered to ${lowered}, the most that the balance covered`,
    )
  })

  test('a token cap that the client left open is lowered to what the balance covers, but not below 16', async () => {
    const { secret } = await gateway.issue({ credits: '0.0006' })
    const response = await gateway.post(secret, HELLO)
    expect(response.status).toBe(200)
    const cap = upstream.requests.at(-1)?.body.max_tokens as number
    expect(cap).toBeGreaterThanOrEqual(16)
    expect(cap).toBeLessThan(300)
    const poor = await gateway.issue({ credits: '0.00016' })
    expect((await gateway.post(poor.secret, HELLO)).status).toBe(402)
  })

  test('a client that did not ask for usage never gets the upstream’s usage report', async () => {
    const { secret } = await gateway.issue()
    upstream.reply = sse([chunk({ content: 'a' }, 'stop'), usageChunk(USAGE), DONE])
    const text = await (await gateway.post(secret, { ...HELLO, stream: true })).text()
    expect(text).not.toContain('"usage"')
    expect(text).not.toContain('"choices":[]')
  })
})
