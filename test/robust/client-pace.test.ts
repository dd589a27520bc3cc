import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { heldBack } from '../sdk/support/held-back.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { chunk, DONE, type Reply, say, status, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { expectBooksClosed } from './support/exchange.ts'
import { readFrames } from './support/spoken.ts'
import { writeOn } from './support/write-apart.ts'

const IDLE_MS = 2_000

const routes = [{ provider: 'up', model: 'upstream-model', idleTimeoutMs: IDLE_MS }]
const { upstream, gateway } = await openBoth({ model: { maxOutputTokens: 1_000_000, routes } })
const quick = await openFor(catalogFor(upstream.url), { timing: { commitAfterMs: 60, keepAliveMs: 30 } })

type Client = { readonly keyId: string; readonly response: IncomingMessage; leave(): void }

/** A client whose reading, or leaving, is in the test's hands once the headers of the answer have come. */
async function connect(to: TestGateway, fields: object): Promise<Client> {
  const { keyId, sent } = await send(to, fields)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.on('error', () => {})
  return { keyId, response, leave: () => sent.destroy() }
}

async function send(to: TestGateway, fields: object) {
  const { key, secret } = await to.issue()
  const sent = request(`${to.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    agent: false,
  })
  sent.on('error', () => {})
  sent.end(JSON.stringify({ ...HELLO, ...fields }))
  return { keyId: key.id, sent }
}

const ending = [chunk({ content: ' the end' }), chunk({}, 'stop'), usageChunk(USAGE), DONE]
const FULL_PRICE = 20_000n

/** An upstream that says these as fast as it is heard, and then ends. */
function atItsPace(pieces: () => Iterable<string>) {
  const finished = Promise.withResolvers<boolean>()
  const reply: Reply = async (response) => {
    response.once('close', () => finished.resolve(response.writableFinished))
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    await writeOn(response, pieces())
    response.end(ending.join(''))
  }
  return { reply, finished: finished.promise }
}

test('a client that leaves in the middle of a stream is billed in full, and the upstream is read to its end', async () => {
  const { reply, answer, ended } = heldBack([chunk({ content: 'Hello' })], ending)
  upstream.reply = reply
  const client = await connect(gateway, { stream: true })
  await once(client.response, 'data')
  client.leave()
  answer()
  expect(await ended).toBe('finished')
  const row = await until(() => expectBooksClosed(gateway, client.keyId))
  expect(row).toMatchObject({ outcome: 'completed', usageSource: 'upstream', cost: FULL_PRICE, httpStatus: 200 })
})

test.each([true, false])(
  'a client that leaves before the first word is billed in full (stream: %s)',
  async (stream) => {
    const { reply, asked, answer, ended } = heldBack([': thinking\n\n'], ending)
    upstream.reply = reply
    const { keyId, sent } = await send(gateway, { stream })
    await asked
    sent.destroy()
    answer()
    expect(await ended).toBe('finished')
    const row = await until(() => expectBooksClosed(gateway, keyId))
    expect(row).toMatchObject({ outcome: 'completed', cost: FULL_PRICE })
  },
)

test('a client that leaves a stream larger than every buffer is billed in full', async () => {
  const many = chunk({ content: `word${' '.repeat(20)}`.repeat(600) })
  const { reply, finished } = atItsPace(() => Array(1_000).fill(many))
  upstream.reply = reply
  const client = await connect(gateway, { stream: true })
  await once(client.response, 'readable')
  client.leave()
  expect(await finished).toBe(true)
  const row = await until(() => expectBooksClosed(gateway, client.keyId))
  expect(row).toMatchObject({ outcome: 'completed', cost: FULL_PRICE })
})

test('a client that leaves before its upstream fails is billed for the delivered part', async () => {
  const { reply, answer } = heldBack([chunk({ content: 'Hello' })], [])
  upstream.reply = reply
  const client = await connect(gateway, { stream: true })
  await once(client.response, 'data')
  client.leave()
  answer()
  const row = await until(() => expectBooksClosed(gateway, client.keyId))
  expect(row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate' })
  expect(row.cost).toBeGreaterThan(0n)
})

test('a client that reads slowly gets the whole text, however long it pauses, and the upstream waits for it', async () => {
  const piece = `é漢👍${' '.repeat(60)}`.repeat(180)
  const count = 2_500
  let written = 0
  function* pieces() {
    for (written = 0; written < count; written++) yield chunk({ content: piece })
  }
  upstream.reply = atItsPace(pieces).reply
  const client = await connect(gateway, { stream: true })
  // Every buffer on the way is full when the upstream gets no further, for longer than it may itself be silent.
  for (let before = -1; before !== written; await sleep(IDLE_MS * 1.5)) before = written
  expect(written).toBeLessThan(count)
  const told = readFrames(await text(client.response))
  expect(told.error).toBeUndefined()
  expect(told.done).toBe(true)
  expect(told.text.length).toBe(piece.length * count + ' the end'.length)
  expect(told.text === `${piece.repeat(count)} the end`).toBe(true)
  expect(await expectBooksClosed(gateway, client.keyId)).toMatchObject({ outcome: 'completed', cost: FULL_PRICE })
})

test('an answer of 5 MB that its client has not read yet is billed as counted, and can still be read', async () => {
  const piece = chunk({ content: 'word '.repeat(200) })
  upstream.reply = atItsPace(() => Array(4_500).fill(piece)).reply
  const client = await connect(gateway, { stream: true })
  const row = await until(() => expectBooksClosed(gateway, client.keyId))
  expect(row).toMatchObject({ outcome: 'completed', usageSource: 'upstream', cost: FULL_PRICE })
  expect(readFrames(await text(client.response))).toMatchObject({ done: true, error: undefined })
})

test('a client that reads slowly gets a JSON answer in full', async () => {
  const content = 'é漢 '.repeat(400_000)
  upstream.reply = say(content)
  const client = await connect(gateway, {})
  const parts: Buffer[] = []
  for await (const part of client.response) {
    parts.push(part as Buffer)
    if (parts.length % 20 === 0) await sleep(1)
  }
  const { choices } = JSON.parse(Buffer.concat(parts).toString()) as { choices: { message: { content: string } }[] }
  expect(choices[0]?.message.content === content).toBe(true)
})

describe('slow upstreams', () => {
  /** An upstream that is silent until the client has had two keep-alive comments after the first, and then does this. */
  async function afterComfort(then: Reply) {
    const go = Promise.withResolvers<void>()
    upstream.reply = async (response, incoming) => {
      await go.promise
      await then(response, incoming)
    }
    const client = await connect(quick, { stream: true })
    return { ...client, told: await readUntilClosed(client, 3, go.resolve) }
  }

  /** Reads a stream to its end, and goes on when so many keep-alive comments have come. */
  async function readUntilClosed({ response }: Client, comments: number, goOn: () => void) {
    let received = ''
    response.on('data', (bytes: Buffer) => {
      received += bytes.toString()
      if (received.split(': keep-alive\n\n').length > comments) goOn()
    })
    await once(response, 'close')
    return readFrames(received)
  }

  test('a stream whose upstream is slow to begin is a 200 with keep-alive comments, and then the answer', async () => {
    const { response, told, keyId } = await afterComfort(say('Hello at last'))
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toContain('text/event-stream')
    expect(response.headers).not.toHaveProperty('x-svc-cost')
    expect(told).toMatchObject({ text: 'Hello at last', done: true, error: undefined })
    expect(told.comments.filter((comment) => comment === 'keep-alive').length).toBeGreaterThanOrEqual(2)
    expect(await expectBooksClosed(quick, keyId)).toMatchObject({ outcome: 'completed', cost: FULL_PRICE })
  })

  test.each<[string, Reply, string, string]>([
    ['breaks', (response) => void response.destroy(), 'upstream_error', 'upstream_error'],
    ['is down', status(503, ''), 'upstream_error', 'upstream_error'],
    ['refuses the operator’s key', status(401, ''), 'upstream_error', 'upstream_error'],
    ['refuses the request', status(400, { error: { message: 'no', code: 'bad' } }), 'refused', 'bad'],
  ])(
    'a stream whose upstream is slow and then %s ends in an error frame without [DONE], and is free',
    async (_, then, outcome, code) => {
      const { response, told, keyId } = await afterComfort(then)
      expect([response.statusCode, told.text, told.done, told.error?.code]).toEqual([200, '', false, code])
      expect(await expectBooksClosed(quick, keyId)).toMatchObject({ outcome, httpStatus: 200, cost: 0n })
    },
  )

  test('a stream whose upstream is slow, accepts the request and then says nothing is paid', async () => {
    const { told, keyId } = await afterComfort(status(200, '', { 'Content-Type': 'text/event-stream' }))
    expect([told.text, told.done, told.error?.code]).toEqual(['', false, 'upstream_error'])
    const row = await expectBooksClosed(quick, keyId)
    expect(row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate', completionTokens: 0 })
    expect(row.cost).toBeGreaterThan(0n)
  })

  test('a stream whose upstream is slow to begin gets its headers before the first keep-alive comment', async () => {
    const timing = { commitAfterMs: 60, keepAliveMs: 60_000 }
    const silent = await openFor(catalogFor(upstream.url), { timing })
    const { reply, answer } = heldBack([], ending)
    upstream.reply = reply
    const { response, keyId } = await connect(silent, { stream: true })
    expect(response.statusCode).toBe(200)
    answer()
    expect(readFrames(await text(response)).text).toBe(' the end')
    await expectBooksClosed(silent, keyId)
  })

  test('a silence in the middle of a stream is filled with keep-alive comments', async () => {
    const { reply, answer } = heldBack([chunk({ content: 'Hello' })], ending)
    upstream.reply = reply
    const client = await connect(quick, { stream: true })
    expect(await readUntilClosed(client, 2, answer)).toMatchObject({ text: 'Hello the end', done: true })
    await expectBooksClosed(quick, client.keyId)
  })
})
