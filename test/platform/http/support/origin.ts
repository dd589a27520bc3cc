import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Exchange } from '../../../../layers/gateway/platform/http/exchange.ts'
import type { HttpClient } from '../../../../layers/gateway/platform/http/http-client.ts'

export type Origin = AsyncDisposable & {
  readonly url: URL
  /** In the order in which they were opened. */
  readonly connections: Socket[]
  /** Every request, whole, as it came over the wire, and the connection on which it came. */
  readonly requests: string[]
  readonly asked: Socket[]
  /** Handles the nth request (from 1) of a connection. */
  answer: (socket: Socket, nth: number) => void
}

export const HI = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'

/** A server that does nothing but this with its connections. */
export async function listen(onConnection: (socket: Socket) => void, host = '127.0.0.1') {
  const connections: Socket[] = []
  const server = createServer((socket) => {
    connections.push(socket)
    onConnection(socket)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: new URL(`http://${name}:${(server.address() as AddressInfo).port}`),
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A server that answers with whatever bytes a test writes. */
export async function startOrigin(host?: string): Promise<Origin> {
  const requests: string[] = []
  const asked: Socket[] = []
  const listening = await listen((socket) => {
    socket.setNoDelay(true)
    socket.on('error', () => {})
    let received = ''
    let nth = 0
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const bodyAt = received.indexOf('\r\n\r\n') + 4
      const length = /^content-length: (\d+)\r$/im.exec(received.slice(0, bodyAt))?.[1]
      if (length === undefined || received.length < bodyAt + Number(length)) return
      requests.push(received)
      asked.push(socket)
      received = ''
      nth += 1
      origin.answer(socket, nth)
    })
  }, host)
  const origin: Origin = { ...listening, requests, asked, answer: (socket) => socket.write(HI) }
  return origin
}

/** Posts something, and reads the whole answer. */
export async function ask(client: HttpClient): Promise<{ readonly status: number; readonly text: string }> {
  const exchange = client.post('/', [], '{}')
  const { status } = await exchange.head
  return { status, text: (await readAll(exchange)).toString() }
}

export async function readAll(exchange: Exchange): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let piece = await exchange.read(); piece; piece = await exchange.read()) pieces.push(piece)
  return Buffer.concat(pieces)
}
