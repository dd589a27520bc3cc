import type { IncomingMessage, ServerResponse } from 'node:http'
import { ENDPOINTS } from '../layers/gateway/endpoints.ts'
import { MAX_BODY_BYTES, MAX_QUOTE_BYTES } from '../layers/gateway/wire/requests/read-body.ts'

/** A quote has a whole body in it. */
const QUOTE = ENDPOINTS.quote.routes[0].path

/** Lambda's limit. */
const LAMBDA_BYTES = 6 * 1024 * 1024

/**
 * A request's body, or enough of it to be refused for its size. A body that declares itself too long is not read:
 * blanks of that length stand for it, so that the function answers, and writes its row, as it would in AWS.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  const most = request.url === QUOTE ? MAX_QUOTE_BYTES : MAX_BODY_BYTES
  if (declared > most) return Buffer.alloc(Math.min(declared, LAMBDA_BYTES), ' ')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > LAMBDA_BYTES) end()
    }
    const end = () => {
      request.off('data', take)
      request.pause()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    }
    request.on('data', take)
    request.once('end', end)
    request.once('error', reject)
    request.once('close', () => request.complete || reject(new Error('The client left while it was still sending.')))
  })
}

/**
 * Ends the connection of a request whose body was not read to its end, once it is answered. The client may still be
 * sending: if its bytes met a closed connection it would lose the answer, so they are thrown away for a moment.
 */
export function endUnread(request: IncomingMessage, response: ServerResponse, lingerMs: number): void {
  if (request.complete) return
  const { socket } = request
  // Otherwise Node closes the connection of a client that asked for that as soon as the answer is written.
  response.shouldKeepAlive = true
  request.resume()
  response.once('finish', () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
  })
}
