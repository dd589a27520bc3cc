import { type IncomingHttpHeaders, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Read = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer }

const AT_ONCE = 50

/** The reading of each of these responses by node:http, after which the connection ends; undefined if it refuses it. */
export async function readByNode(responses: readonly Buffer[]): Promise<(Read | undefined)[]> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      const [, which] = /^POST \/(\d+) /.exec(bytes.toString('latin1')) ?? []
      socket.end(responses[Number(which)] as Buffer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const read: (Read | undefined)[] = []
  while (read.length < responses.length) {
    const batch = responses.slice(read.length, read.length + AT_ONCE)
    read.push(...(await Promise.all(batch.map((_, i) => readOne(port, `/${read.length + i}`)))))
  }
  await new Promise((resolve) => server.close(resolve))
  return read
}

/** On a connection of its own. */
function readOne(port: number, path: string): Promise<Read | undefined> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent: false }, (response) => {
      buffer(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        () => resolve(undefined),
      )
    })
    sent.on('error', () => resolve(undefined))
    sent.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve(undefined)
    })
    sent.end()
  })
}
