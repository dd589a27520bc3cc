import { type Started, startServer } from './start-server.ts'

type Ask = (path: string, authorization: string) => Promise<{ status: number; body: string }>

export type Front = Started & {
  readonly baseUrl: string
  /** While false, every request is answered with a 503. */
  isUp: boolean
}

/** The public address of the functions, in the place of CloudFront. */
export async function startFront(ask: Ask): Promise<Front> {
  const server = await startServer(async (request, response) => {
    const down = { status: 503, body: '' }
    const { status, body } = front.isUp ? await ask(request.url ?? '', request.headers.authorization ?? '') : down
    response.writeHead(status).end(body)
  })
  const front: Front = { ...server, baseUrl: `${server.endpoint}/v1`, isUp: true }
  return front
}
