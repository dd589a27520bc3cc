import { once } from 'node:events'
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { gunzipSync } from 'node:zlib'

/** An answer as it came over the wire: fetch would unpack it, and hide how it came. */
export type Seen = Awaited<ReturnType<typeof send>>

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }

export async function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const startedMs = performance.now()
  const overWire = url.startsWith('https:') ? overHttps : overHttp
  const asked = overWire(url, { method, headers, signal: AbortSignal.timeout(300_000) }).end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const pieces: Buffer[] = []
  let firstMs: number | undefined
  for await (const piece of answer as AsyncIterable<Buffer>) {
    pieces.push(piece)
    if (piece.includes('data:')) firstMs ??= performance.now()
  }
  const endedMs = performance.now()
  const whole = Buffer.concat(pieces)
  const { statusCode: status = 0, headers: told } = answer
  return {
    call: `${method} ${new URL(url).pathname}`,
    status,
    headers: told,
    body: whole,
    bytes: whole.length,
    ms: Math.round(endedMs - startedMs),
    /** The time from the first event to the end. */
    spreadMs: Math.round(endedMs - (firstMs ?? endedMs)),
  }
}

/** Says how a stream came that might be compressed, by its raw header and its bytes. The gateway varies what it compresses. */
export function checkCompression({ headers, body, bytes }: Seen): string {
  // Gzip begins with these, and no event does.
  const isPacked = body.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))
  if (headers['content-encoding'] === 'gzip' && isPacked)
    return `compressed, ${bytes} bytes on the wire for ${gunzipSync(body).length}; leave "compress": true`
  const came = `${bytes} bytes came, with the header Content-Encoding: ${headers['content-encoding'] ?? 'none'}`
  if (isPacked || headers['content-encoding']) throw new Error(`${came}: clients cannot read it. Set "compress": false`)
  if (!/accept-encoding/i.test(headers.vary ?? '')) return `off, ${bytes} bytes on the wire; "compress": true tries it`
  throw new Error(
    `stripped: it was compressed by the gateway, and unpacked on the way (${came}). Set "compress": false`,
  )
}
