import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Started = AsyncDisposable & { readonly endpoint: string }

/** A server on this machine. A request that it cannot answer has its connection ended. */
export async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): Promise<Started> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  // A runtime waits for its next event as long as it takes.
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
