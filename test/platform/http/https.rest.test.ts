import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { createServer, type TlsOptions } from 'node:tls'
import { afterAll, expect, test } from '@jest/globals'
import { type Certificate, makeCertificate } from '../../support/certificate.ts'
import { run } from '../../support/processes.ts'

type Heard = {
  /** The first bytes of every connection. */
  readonly hellos: string[]
  /** Over which protocol, and whether as a session that went on: of every connection that was made. */
  readonly connections: { readonly protocol: string | false | null; readonly isResumed: boolean }[]
  readonly requests: string[]
}

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())
const certificate = makeCertificate()
const testWithOpenssl = certificate ? test : test.skip
if (certificate) opened.use(certificate)
else console.warn('There is no openssl here to make a certificate with, so that TLS is not tried.')

/** As they stand in the first message of a connection. */
const NAME = '\0\x09localhost'
const HTTP_1_1_ALONE = '\0\x10\0\x0b\0\x09\x08http/1.1'
const ANSWER = '{"Item":{}}'

/** A server of one answer, which hangs up on the nth connection. */
async function startSecurely(options: TlsOptions = {}, { connection = 'close', hangsUpOn = 0 } = {}) {
  const heard: Heard = { hellos: [], connections: [], requests: [] }
  const sockets = new Set<Socket>()
  const { key, cert } = certificate as Certificate
  const server = createServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'], ...options }, (socket) => {
    heard.connections.push({ protocol: socket.alpnProtocol, isResumed: socket.isSessionReused() })
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard.requests.push(bytes.toString())
      const head = `HTTP/1.1 200 OK\r\nConnection: ${connection}\r\nContent-Length: ${ANSWER.length}`
      socket.write(`${head}\r\n\r\n${ANSWER}`)
    })
  })
  server.on('tlsClientError', () => {})
  const front = createPlainServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('data', (hello) => {
      heard.hellos.push(hello.toString('latin1'))
      if (heard.hellos.length === hangsUpOn) return void socket.destroy()
      socket.pause().unshift(hello)
      server.emit('connection', socket)
    })
  })
  await new Promise<void>((resolve) => front.listen(0, resolve))
  opened.defer(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => front.close(resolve))
  })
  return { ...heard, port: (front.address() as AddressInfo).port }
}

/** In a process of its own, as what a process trusts is read with its start. */
async function runFixture(file: string, args: string[], trusts: boolean): Promise<unknown> {
  const trust = trusts && certificate ? { NODE_EXTRA_CA_CERTS: certificate.file } : {}
  const { stdout, stderr } = await run(`test/platform/http/fixtures/${file}.ts`, args, tmpdir(), trust).ended
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

const ask = (address: string, times: number, trusts = true) => runFixture('ask-securely', [address, `${times}`], trusts)

testWithOpenssl(
  'a secure call names its host, offers HTTP/1.1 alone, and goes on with its session over the next connection',
  async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { port, connections, hellos } = await startSecurely({ maxVersion })
      expect(await ask(`https://localhost:${port}`, 3)).toEqual(Array(3).fill(`200 ${ANSWER}`))
      const [first, next] = [false, true].map((isResumed) => ({ protocol: 'http/1.1', isResumed }))
      expect(connections).toEqual([first, next, next])
      const said = hellos.map((hello) => [hello.includes(NAME), hello.includes(HTTP_1_1_ALONE)])
      expect(said).toEqual(Array(3).fill([true, true]))
    }
  },
)

testWithOpenssl('a secure connection is used again, and keeps no process alive', async () => {
  const { port, connections, requests } = await startSecurely({}, { connection: 'keep-alive' })
  expect(await ask(`https://localhost:${port}`, 3)).toEqual(Array(3).fill(`200 ${ANSWER}`))
  expect([connections.length, requests.length]).toEqual([1, 3])
})

testWithOpenssl('a server without ALPN is called', async () => {
  const { port, connections } = await startSecurely({ ALPNProtocols: [] })
  expect(await ask(`https://localhost:${port}`, 1)).toEqual([`200 ${ANSWER}`])
  expect(connections).toEqual([{ protocol: false, isResumed: false }])
})

testWithOpenssl('a certificate that nobody trusts is refused every time, and nothing is sent', async () => {
  const { port, requests } = await startSecurely()
  const refused = await ask(`https://localhost:${port}`, 2, false)
  expect(refused).toEqual(['DEPTH_ZERO_SELF_SIGNED_CERT', 'DEPTH_ZERO_SELF_SIGNED_CERT'])
  expect(requests).toEqual([])
})

// The name is not looked at again when a session goes on: none may be kept from a connection that was refused.
testWithOpenssl('a trusted certificate of another name is refused every time, and nothing is sent', async () => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const { port, requests, hellos } = await startSecurely({ maxVersion })
    const refused = await ask(`https://127.0.0.1:${port}`, 3)
    expect(refused).toEqual(Array(3).fill('ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(requests).toEqual([])
    // An address is no name.
    expect(hellos.filter((hello) => hello.includes('127.0.0.1'))).toEqual([])
  }
})

testWithOpenssl('a server that speaks HTTP/2 alone is refused', async () => {
  const { port, requests } = await startSecurely({ ALPNProtocols: ['h2'] })
  expect(await ask(`https://localhost:${port}`, 1)).toEqual(['EPROTO'])
  expect(requests).toEqual([])
})

testWithOpenssl('a session is forgotten when a handshake with it fails', async () => {
  const { port, connections } = await startSecurely({}, { hangsUpOn: 2 })
  const outcomes = await ask(`https://localhost:${port}`, 4)
  expect(outcomes).toEqual([`200 ${ANSWER}`, 'ECONNRESET', `200 ${ANSWER}`, `200 ${ANSWER}`])
  expect(connections.map(({ isResumed }) => isResumed)).toEqual([false, false, true])
})

testWithOpenssl('a call to AWS over TLS is signed, and made to the host whose certificate is trusted', async () => {
  const { port, connections, requests } = await startSecurely()
  expect(await runFixture('call-aws-securely', [`https://localhost:${port}`], true)).toEqual([
    { Item: {} },
    { Item: {} },
  ])
  expect(connections).toEqual([
    { protocol: 'http/1.1', isResumed: false },
    { protocol: 'http/1.1', isResumed: true },
  ])
  for (const request of requests) {
    expect(request).toMatch(/^POST \/ HTTP\/1\.1\r\n/)
    expect(request).toContain(`\r\nHost: localhost:${port}\r\n`)
    expect(request).toMatch(/\r\nX-Amz-Target: DynamoDB_20120810\.GetItem\r\n/i)
    expect(request).toMatch(/\r\nAuthorization: AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-central-1\/dynamodb\//i)
    expect(request).toMatch(/\r\n\r\n\{"TableName":"é"\}$/)
  }
})

testWithOpenssl(
  'a call to AWS is not sent to a host whose certificate is not trusted or has another name',
  async () => {
    const { port, requests } = await startSecurely()
    const failed = (code: string) => Array(2).fill({ name: 'NetworkingError', code })
    const [untrusted, misnamed] = await Promise.all([
      runFixture('call-aws-securely', [`https://localhost:${port}`], false),
      runFixture('call-aws-securely', [`https://127.0.0.1:${port}`], true),
    ])
    expect(untrusted).toEqual(failed('DEPTH_ZERO_SELF_SIGNED_CERT'))
    expect(misnamed).toEqual(failed('ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(requests).toEqual([])
  },
)
