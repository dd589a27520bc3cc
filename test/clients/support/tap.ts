import { text } from 'node:stream/consumers'
import { openServer } from '../../support/stack.ts'

/** Stands before a gateway and keeps what it refuses, in its own words. */
export async function openTap(baseUrl: string): Promise<{ readonly baseUrl: string; readonly refused: string[] }> {
  const refused: string[] = []
  const url = await openServer(async (request, response) => {
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>
    const body = request.method === 'POST' ? await text(request) : undefined
    const answer = await fetch(`${baseUrl}${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      ...(body && { body }),
    })
    const said = await answer.text()
    if (!answer.ok) refused.push(`${request.method} ${request.url} ${answer.status} ${said}`)
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(said)
  })
  return { baseUrl: url, refused }
}
