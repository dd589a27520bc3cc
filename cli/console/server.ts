import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { ConsoleFile } from '../../console/build.ts'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import { type AdminAnswer, adminRequestId, type Identity } from '../../layers/admin/api/call.ts'
import { readJson } from '../../layers/admin/api/fields.ts'
import { refused } from '../../layers/admin/api/handle.ts'
import { MOST_CATALOG_BYTES } from '../../layers/admin/catalog/catalog-refusal.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import type { AdminClient } from '../admin-client/http-client.ts'
import { Refusal } from '../admin-client/refusal.ts'
import { GUARD_HEADERS, refuseForeign, type Tokens } from './guard.ts'
import type { Playground } from './playground.ts'

const TOKEN_HEADER = 'X-Waybill-Console'
const JSON_TYPE = { 'Content-Type': 'application/json' }
/** More than any route accepts, so that each refuses for itself. */
const MOST_BYTES = 2 * MOST_CATALOG_BYTES + 1
const PASSED_ON = /^(content-type|x-request-id|x-svc-.*|ratelimit-.*|retry-after)$/

type ConsoleParts = {
  readonly api: AdminClient
  readonly scopes: Identity['scopes']
  readonly tokens: Tokens
  readonly page: () => Promise<readonly ConsoleFile[]>
  readonly playground: Playground
}

export function createConsoleServer({ api, scopes, tokens, page, playground }: ConsoleParts): Server {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 50_000 }, (request, response) => {
    serve(request, response)
      .catch((error) => answerFailure(response, error))
      .catch(() => void response.destroy())
  })
  return server

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request
    const { pathname, searchParams } = addressOf(request)
    const isOfApi = pathname.startsWith(`${ADMIN_ROOT}/`)
    const isPage = !isOfApi && !pathname.startsWith('/console/')
    refuseForeign({ headers, method, isPage }, (server.address() as AddressInfo).port)
    if (isPage) return servePage(method, pathname, response)
    if (pathname === '/console/session') return openSession(request, response)
    if (!tokens.opens(headers[TOKEN_HEADER.toLowerCase()])) {
      const why = `This needs the header ${TOKEN_HEADER} with the token of a session. 'waybill console' begins one.`
      throw new AdminError('invalid_console_token', why)
    }
    if (!isOfApi) return servePlayground(request, response, pathname)
    await write(response, await api({ method, path: pathname, query: searchParams, ...(await readSent(request)) }))
  }

  async function servePage(method: string, path: string, response: ServerResponse): Promise<void> {
    const file = (await page()).find((one) => one.path === path)
    if (!file) throw notFound()
    requireMethod(method, 'GET')
    response.writeHead(200, { ...GUARD_HEADERS, 'Content-Type': file.type }).end(file.body)
  }

  async function openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requireMethod(request.method, 'POST')
    const { launch } = readJson(await readSent(request), {})
    const token = tokens.exchange(launch)
    if (token === undefined) {
      const why = "This launch token is not valid, or was used. 'waybill console' makes one."
      throw new AdminError('invalid_console_token', why)
    }
    await write(response, { status: 200, headers: JSON_TYPE, body: JSON.stringify({ token }) })
  }

  async function servePlayground(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    // The playground spends credits that are granted for it.
    if (!scopes.includes('keys.write'))
      throw new AdminError('insufficient_scope', 'This console only looks: the playground would make a key.')
    const left = new AbortController()
    response.once('close', () => left.abort())
    if (path !== '/console/playground/chat/completions') throw notFound()
    requireMethod(request.method, 'POST')
    const sent = await readSent(request)
    readJson(sent, { mostBytes: MOST_BYTES - 1 })
    await passOn(await playground.chat(sent.body, left.signal), response)
  }

  async function write(response: ServerResponse, { status, headers, body }: AdminAnswer): Promise<void> {
    response.writeHead(status, { ...headers, ...GUARD_HEADERS })
    if (typeof body === 'string') response.end(body)
    else await pipeline(Readable.from(body), response)
  }

  async function answerFailure(response: ServerResponse, error: unknown): Promise<void> {
    // The answer has begun, or the client has left: the connection can only be broken off.
    if (response.headersSent || response.destroyed) return void response.destroy()
    // The playground's key could not be made: the admin API's refusal is the answer.
    if (error instanceof Refusal) return write(response, error.answer)
    const refusal =
      error instanceof AdminError
        ? error
        : new AdminError('service_unavailable', `The gateway could not be asked: ${(error as Error).message}`)
    const answer = refused(adminRequestId(Date.now()), refusal)
    // The unread part of the body is not awaited.
    await write(response, { ...answer, headers: { ...answer.headers, Connection: 'close' } })
  }
}

function addressOf({ url = '/' }: IncomingMessage): URL {
  const address = URL.parse(url, 'http://127.0.0.1')
  if (address && url.startsWith('/') && !url.startsWith('//')) return address
  throw notFound()
}

function notFound(): AdminError {
  return new AdminError('not_found', 'There is nothing here.')
}

function requireMethod(method: string | undefined, allowed: string): void {
  if (method === allowed) return
  throw new AdminError('method_not_allowed', `This takes ${allowed}.`, { headers: { Allow: allowed } })
}

/** Reads as much of a body as any route accepts, and one byte more, by which it is refused. */
async function readSent(request: IncomingMessage) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= MOST_BYTES) {
      throw new AdminError('request_too_large', `The body may have at most ${Math.floor(MOST_BYTES / 1024)} KiB.`)
    }
  }
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const,
  )
  return { headers: Object.fromEntries(headers), body: Buffer.concat(chunks) }
}

async function passOn(answer: Response, response: ServerResponse): Promise<void> {
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => PASSED_ON.test(name)))
  response.writeHead(answer.status, { ...headers, ...GUARD_HEADERS })
  response.flushHeaders()
  if (!answer.body) return void response.end()
  await pipeline(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>), response)
}
