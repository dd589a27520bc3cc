import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { promisify } from 'node:util'
import { createGunzip, gunzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, say, USAGE, usageChunk } from '../support/upstream.ts'
import { until } from '../support/wait.ts'

const { gateway, upstream } = await openBoth({ isCompressed: true })
const { secret } = await gateway.issue()

type Raw = { status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer }

/** As it is on the line, which `fetch` does not show. */
function ask(body: object, encoding: string | undefined, onText?: (text: string) => void): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      ...(encoding !== undefined && { 'accept-encoding': encoding }),
    }
    const sent = request(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
      const pieces: Buffer[] = []
      const gunzip = onText && createGunzip().setEncoding('utf8').on('data', onText)
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        gunzip?.write(piece)
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(pieces) })
      })
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ ...HELLO, ...body }))
  })
}

test.each([
  ['gzip, deflate, br', true],
  ['*', true],
  ['br;q=1.0, gzip;q=0.5', true],
  ['GZIP', true],
  ['identity', false],
  ['gzip;q=0', false],
  ['gzip;q=0.0, br', false],
  ['br', false],
  ['x-gzip-like', false],
  ['', false],
  [undefined, false],
])('with Accept-Encoding %j a stream is compressed: %j', async (encoding, isCompressed) => {
  upstream.reply = say('Hello')
  const { status, headers, bytes } = await ask({ stream: true }, encoding)
  expect([status, headers['content-encoding'], headers.vary]).toEqual(
    isCompressed ? [200, 'gzip', 'Accept-Encoding'] : [200, undefined, undefined],
  )
  const text = String(isCompressed ? gunzipSync(bytes) : bytes)
  expect(text).toContain('"content":"Hello"')
  expect(text.endsWith(DONE)).toBe(true)
})

test('a compressed stream has each token before the upstream sends the next one', async () => {
  let next = Promise.withResolvers<void>()
  upstream.reply = async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const word of ['one', 'two', 'three', 'four']) {
      response.write(chunk({ content: word }))
      await next.promise
    }
    response.end(chunk({}, 'stop') + usageChunk(USAGE) + DONE)
  }
  let text = ''
  const answer = ask({ stream: true }, 'gzip', (piece) => {
    text += piece
  })
  for (const word of ['one', 'two', 'three', 'four']) {
    expect(await until(() => text.includes(`"content":"${word}"`))).toBe(true)
    const { resolve } = next
    next = Promise.withResolvers<void>()
    resolve()
  }
  expect((await answer).status).toBe(200)
  expect(await until(() => text.endsWith(DONE))).toBe(true)
})

test('a stream of 300 tokens is a tenth of its length', async () => {
  const words = Array.from({ length: 300 }, (_, i) => chunk({ content: ` word${(i * 7919) % 97}` }))
  upstream.reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    let sent = 0
    const send = () => {
      const word = words[sent]
      if (word === undefined) return void response.end(chunk({}, 'stop') + usageChunk(USAGE) + DONE)
      sent += 1
      response.write(word)
      setImmediate(send)
    }
    send()
  }
  const [{ bytes }, plain] = [await ask({ stream: true }, 'gzip'), await ask({ stream: true }, 'identity')]
  expect(bytes.length).toBeLessThan(plain.bytes.length / 10)
})

test('an answer that is not streamed is compressed if it is long', async () => {
  for (const [content, encoding] of [
    ['Hello', undefined],
    ['é'.repeat(3_000), 'gzip'],
  ] as const) {
    upstream.reply = say(content)
    const { headers, bytes } = await ask({}, 'gzip')
    expect(headers['content-encoding']).toBe(encoding)
    const text = String(encoding ? gunzipSync(bytes) : bytes)
    expect(JSON.parse(text).choices[0].message.content).toBe(content)
  }
})

test('a refusal is not compressed', async () => {
  const { status, headers, bytes } = await ask({ model: 'no-such-model' }, 'gzip')
  expect([status, headers['content-encoding']]).toEqual([404, undefined])
  expect(JSON.parse(String(bytes)).error.code).toBe('model_not_found')
})

test('a client that leaves a compressed stream is charged as one that leaves any other', async () => {
  const { key, secret: own } = await gateway.issue()
  upstream.reply = async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(chunk({ content: 'Hello' }))
    await new Promise((resolve) => setTimeout(resolve, 200))
    response.end(chunk({}, 'stop') + usageChunk(USAGE) + DONE)
  }
  const leaving = new AbortController()
  const response = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${own}`, 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' },
    body: JSON.stringify({ ...HELLO, stream: true }),
    signal: leaving.signal,
  })
  expect(response.headers.get('content-encoding')).toBe('gzip')
  leaving.abort()
  expect(await until(async () => (await gateway.readKey(key.id)).spent === 20_000n)).toBe(true)
})

test('curl --compressed prints a stream as it comes', async () => {
  upstream.reply = say('Hello')
  const { stdout } = await promisify(execFile)('curl', [
    ...['-sN', '--compressed', `${gateway.baseUrl}/v1/chat/completions`],
    ...['-H', `Authorization: Bearer ${secret}`, '-H', 'Content-Type: application/json'],
    ...['-d', JSON.stringify({ ...HELLO, stream: true })],
  ])
  expect(stdout).toContain('"content":"Hello"')
})

test('a stage that does not turn it on compresses nothing', async () => {
  const { gateway: plain } = await openBoth()
  const { response, text } = await plain.ask({ stream: true }, { headers: { 'Accept-Encoding': 'gzip' } })
  expect([response.headers.get('content-encoding'), text]).toEqual([null, expect.stringContaining('Hello')])
})
