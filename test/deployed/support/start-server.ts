import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from '../../support/listen.ts'

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
  const { url: endpoint, ...served } = await listen(server)
  return { ...served, endpoint }
}
