import { connect, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { createGatewayServer, type ServerOptions } from '../../local/server.ts'
import { rawCall } from '../robust/support/raw-call.ts'
import { catalogFor, openGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

const MIB = 1024 * 1024
const opened = new AsyncDisposableStack()

const gateway = opened.use(await openGateway(catalogFor('http://127.0.0.1:1/v1')))
const { secret } = await gateway.issue()
const baseUrl = await serve({ lingerMs: 50 })
const impatientUrl = await serve({ wholeRequestMs: 200 })
afterAll(() => opened.disposeAsync())

/** Another server over the functions of the gateway. */
async function serve(options: ServerOptions): Promise<string> {
  return opened.use(await listen(createGatewayServer(Promise.resolve(gateway.instance), options))).url
}

/** Everything that comes back until the server has closed the connection; the client may go on sending meanwhile. */
async function exchange(url: string, sent: string, goOn?: (socket: Socket) => void): Promise<string> {
  const { port } = new URL(url)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: goOn !== undefined })
  let received = ''
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString()
  })
  socket.on('error', () => {})
  socket.write(sent)
  goOn?.(socket)
  await new Promise((resolve) => socket.once('close', resolve))
  return received
}

const chatHead = (...headers: string[]) =>
  ['POST /v1/chat/completions HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${secret}`, ...headers, '', ''].join(
    '\r\n',
  )

describe('the Host header', () => {
  const introspect = (Host: string) =>
    rawCall(baseUrl, {
      method: 'GET',
      path: '/v1/key/introspect',
      headers: { Host, Authorization: `Bearer ${secret}` },
    })

  test.each(['127.0.0.1', '127.0.0.1:8787', 'localhost', 'LOCALHOST:1', '[::1]', '[::1]:8787'])(
    'the local server answers a request for the host %s',
    async (host) => {
      expect((await introspect(host)).status).toBe(200)
    },
  )

  test.each([
    'evil.example.test',
    'evil.example.test:8787',
    'localhost.example.test',
    '127.0.0.1.example.test',
    'x@127.0.0.1',
    '127.0.0.1:8787@x',
    '[::1].example.test',
    '::1',
    '0.0.0.0',
  ])('the local server refuses a request for the host %p with 403 before anything is done', async (host) => {
    const calls = gateway.calls.length
    const { status, headers, body } = await introspect(host)
    expect([status, headers['content-type']]).toEqual([403, 'application/json'])
    expect(JSON.parse(body)).toEqual({
      error: {
        message: expect.stringContaining('Host header'),
        type: 'permission_error',
        param: null,
        code: 'host_not_allowed',
      },
    })
    expect(gateway.calls.length).toBe(calls)
  })

  test.each([
    ['without a Host header, as HTTP/1.0 allows', 'HTTP/1.0'],
    ['with an empty Host header', 'HTTP/1.1\r\nConnection: close\r\nHost:'],
  ])('the local server refuses a request %s', async (_, ending) => {
    const received = await exchange(baseUrl, `GET /v1/models ${ending}\r\nAuthorization: Bearer ${secret}\r\n\r\n`)
    expect(received).toMatch(/^HTTP\/1\.1 403 .*"code":"host_not_allowed"/s)
  })
})

describe('unfinished requests', () => {
  const JSON_TYPE = 'Content-Type: application/json'

  test.each([
    ['4 MiB and a byte', 4 * MIB + 1],
    ['a terabyte', 1e12],
  ])('a request that declares a body of %s is a 413 at once, and its connection ends', async (_, length) => {
    const received = await exchange(baseUrl, chatHead(JSON_TYPE, `Content-Length: ${length}`))
    expect(received).toMatch(/^HTTP\/1\.1 413 .*"code":"request_too_large"/s)
    const requestId = /x-request-id: (\S+)/i.exec(received)?.[1]
    expect(await gateway.readRow(requestId)).toMatchObject({ httpStatus: 413, outcome: 'refused', cost: 0n })
  })

  test.each([
    ['its head', chatHeadOf('Content-Length: 100'), ''],
    ['the start of its body', chatHeadOf('Content-Length: 100'), '{"model":'],
    ['one chunk of its body', chatHeadOf('Transfer-Encoding: chunked'), '1\r\n{\r\n'],
    ['half of its head', () => 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n', ''],
  ])('a request that stops after %s is ended with 408 when its time is over', async (_, head, start) => {
    expect(await exchange(impatientUrl, head() + start)).toMatch(/^HTTP\/1\.1 408 /)
  })

  function chatHeadOf(framing: string) {
    return () => chatHead(JSON_TYPE, framing)
  }
})

test('a body that goes on for ever without a declared length is cut off with 413', async () => {
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  const head = chatHead('Content-Type: application/json', 'Transfer-Encoding: chunked')
  const received = await exchange(baseUrl, head, function goOn(socket) {
    while (!socket.destroyed && socket.write(chunk)) {}
    socket.once('drain', () => goOn(socket))
  })
  expect(received).toMatch(/^HTTP\/1\.1 413 .*"code":"request_too_large"/s)
})
