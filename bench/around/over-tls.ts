import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { Certificate } from './certificate.ts'

export type SecureServer = AsyncDisposable & { readonly url: string }

/** The same server by an https address, as providers and DynamoDB are called in AWS. */
export async function overTls(plainUrl: string, { key, cert }: Certificate): Promise<SecureServer> {
  const { hostname, port, pathname } = new URL(plainUrl)
  const sockets = new Set<Socket>()
  const server = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (secure) => {
    const plain = connect(Number(port), hostname)
    for (const [socket, other] of [
      [secure, plain],
      [plain, secure],
    ] as const) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => other.destroy()).once('close', () => sockets.delete(socket))
    }
    secure.pipe(plain).pipe(secure)
  })
  server.on('tlsClientError', () => {})
  server.listen(0)
  await once(server, 'listening')
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}${pathname === '/' ? '' : pathname}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
