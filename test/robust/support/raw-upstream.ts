import { type AddressInfo, createServer, type Socket } from 'node:net'

export type RawUpstream = AsyncDisposable & {
  readonly url: string
  /** The connections on which requests came, in the order of the requests. */
  readonly requests: Socket[]
  /** Handles the nth request (from 1) of a connection. */
  answer: (socket: Socket, nth: number) => void
}

/** An upstream below HTTP: it knows where a request ends, and answers with whatever bytes a test writes. */
export async function startRawUpstream(): Promise<RawUpstream> {
  const requests: Socket[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let received = ''
    let nth = 0
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const bodyAt = received.indexOf('\r\n\r\n') + 4
      const length = /content-length: (\d+)/i.exec(received.slice(0, bodyAt))?.[1]
      if (length === undefined || received.length < bodyAt + Number(length)) return
      received = received.slice(bodyAt + Number(length))
      requests.push(socket)
      nth += 1
      upstream.answer(socket, nth)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answer: (socket) => socket.write(whole(200, {})),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

/** A complete JSON answer that leaves the connection open. */
export function whole(status: number, value: unknown): string {
  const body = JSON.stringify(value)
  const head = `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  return `${head}\r\nConnection: keep-alive\r\n\r\n${body}`
}
