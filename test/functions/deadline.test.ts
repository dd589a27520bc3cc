import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, test } from '@jest/globals'
import type { Context } from 'aws-lambda'
import { createChat } from '../../functions/chat/create.ts'
import { countTokens } from '../../layers/tokenizer/count-tokens.ts'
import { toEvent } from '../../local/events.ts'
import { ResponseStream } from '../../local/server.ts'
import { writeOn } from '../robust/support/write-apart.ts'
import { booksBalance, HELLO, postTo } from '../support/gateway.ts'
import { openBoth, openServer } from '../support/stack.ts'
import { chunk, DONE, type Reply, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

type StreamFunction = (event: unknown, stream: ResponseStream, context: Context) => Promise<void>

const { upstream, gateway } = await openBoth({ model: { maxOutputTokens: 100_000 } })
/** The time that the function has left; 20 seconds of it are kept for settling. */
let remainingMs: number
let Stream = ResponseStream
beforeEach(() => {
  remainingMs = 21_500
  Stream = ResponseStream
})

/** A client that takes nothing, without the megabytes that sockets hold. */
class StalledStream extends ResponseStream {
  override _write(): void {}
}

const chat = createChat(gateway.instance, {
  countTokens: async (texts) => texts.map((counted) => countTokens(counted)),
}) as unknown as StreamFunction
const origin = await openServer(async (incoming, response) => {
  const event = toEvent(incoming, Buffer.from(await text(incoming)))
  const context = { getRemainingTimeInMillis: () => remainingMs } as Context
  await chat(event, new Stream(response), context).catch(() => {})
})

const ask = (secret: string, extra: object) => postTo(origin, secret, { ...HELLO, ...extra })

/** A client that reads nothing of its stream. */
function askUnread(secret: string) {
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' }
  const sent = request(`${origin}/v1/chat/completions`, { method: 'POST', headers }, (response) => response.pause())
  sent.on('error', () => {})
  return sent.end(JSON.stringify({ ...HELLO, stream: true, max_tokens: 100_000 }))
}

/** Never silent, never done. */
const drip: Reply = (response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const timer = setInterval(() => response.write(chunk({ content: 'drop ' })), 20)
  response.once('close', () => clearInterval(timer))
}

test('a stream that outlasts the function’s time ends with an error frame and costs the delivered part', async () => {
  upstream.reply = drip
  const { key, secret } = await gateway.issue()
  const response = await ask(secret, { stream: true })
  const body = await response.text()
  expect(body).toContain('"content":"drop "')
  expect(body).toContain('"code":"upstream_timeout"')
  expect(body).not.toContain('[DONE]')
  const row = await gateway.readRow(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ outcome: 'upstream_error', errorCode: 'upstream_timeout', usageSource: 'estimate' })
  expect(row.cost > 0n).toBe(true)
  const after = await gateway.readKey(key.id)
  expect(after.holds).toEqual({})
  expect(booksBalance(after)).toBe(true)
})

test('a JSON answer that outlasts the function’s time is a 504, and costs what had come of it', async () => {
  upstream.reply = drip
  const { key, secret } = await gateway.issue()
  const response = await ask(secret, {})
  expect(response.status).toBe(504)
  const row = await gateway.readRow(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate' })
  expect(row.completionTokens).toBeGreaterThan(0)
  expect(await gateway.readKey(key.id)).toMatchObject({ holds: {}, spent: row.cost })
})

test('a client that has stopped reading cannot keep its request from being settled in the function’s time', async () => {
  upstream.reply = async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    await writeOn(response, Array(100).fill(chunk({ content: ' '.repeat(60_000) })))
  }
  const { key, secret } = await gateway.issue()
  const stalled = askUnread(secret)
  await until(async () => Object.keys((await gateway.readKey(key.id)).holds).length === 1)
  await until(async () => Object.keys((await gateway.readKey(key.id)).holds).length === 0)
  const after = await gateway.readKey(key.id)
  expect(after.spent > 0n).toBe(true)
  expect(booksBalance(after)).toBe(true)
  stalled.destroy()
})

test('a client that has stopped reading is left in time for its upstream to be read to the end, and charged as counted', async () => {
  // The gateway keeps 8 MiB for a client that is behind. The answer is longer, so without time kept back for the rest of
  // it the upstream would be cut off before its count.
  remainingMs = 24_000
  Stream = StalledStream
  const counted = { prompt_tokens: 10, completion_tokens: 90_000 }
  upstream.reply = async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    await writeOn(response, Array(150).fill(chunk({ content: ' '.repeat(60_000) })))
    response.end(chunk({}, 'stop') + usageChunk(counted) + DONE)
  }
  const { key, secret } = await gateway.issue()
  const stalled = askUnread(secret)
  await until(async () => (await gateway.readKey(key.id)).spent > 0n)
  expect((await gateway.readKey(key.id)).spent).toBe(10n * 1_000n + 90_000n * 2_000n)
  stalled.destroy()
})
