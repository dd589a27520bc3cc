import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Ask = (path: string, authorization: string) => Promise<{ status: number; body: string }>

export type Front = AsyncDisposable & {
  readonly baseUrl: string
  /** While false, every request is answered with a 503. */
  isUp: boolean
}

/** The public address of the functions, in the place of CloudFront. */
export async function startFront(ask: Ask): Promise<Front> {
  const server = createServer(async (request, response) => {
    const down = { status: 503, body: '' }
    const { status, body } = front.isUp ? await ask(request.url ?? '', request.headers.authorization ?? '') : down
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const front: Front = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    isUp: true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return front
}
