import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import type { Context } from 'aws-lambda'
import { createApi } from '../functions/api/create.ts'
import { createChat } from '../functions/chat/create.ts'
import type { Instance } from '../functions/instance.ts'
import { GatewayError } from '../layers/gateway/domain/basics/gateway-error.ts'
import { ADMIN_PATHS, CHAT_PATHS, type FunctionName } from '../layers/gateway/endpoints.ts'
import type { CountTokens } from '../layers/gateway/flow/billing/count-texts.ts'
import type { GatewayAnswer } from '../layers/gateway/flow/request.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../layers/gateway/names.ts'
import { type KeySources, openProvider } from '../layers/gateway/providers/open-provider.ts'
import { errorEnvelope } from '../layers/gateway/wire/chat/frames.ts'
import { findRoute } from '../layers/gateway/wire/requests/find-route.ts'
import { outputOf, thisTerminal } from '../layers/terminal/terminal.ts'
import { endUnread, type LocalEvent, readBody, toEvent } from './events.ts'
import type { LocalAdmin } from './local-admin.ts'
import { openTokenizerThread } from './tokenizer-thread.ts'

type JsonFunction = (event: unknown, context: Context) => Promise<GatewayAnswer>
type StreamFunction = (event: unknown, stream: ResponseStream, context: Context) => Promise<void>

export type ServerOptions = {
  readonly keys?: KeySources
  /** The admin API; without it, its paths are unknown ones. */
  readonly admin?: Promise<LocalAdmin>
  readonly countTokens?: CountTokens | undefined
  readonly wholeRequestMs?: number
  /** The time in which a client that was refused before its body was read may go on sending it. */
  readonly lingerMs?: number
}

/** The same functions that AWS starts, behind one HTTP server. Requests that come before `instance` resolves wait. */
export function createGatewayServer(instance: Promise<Instance>, options: ServerOptions = {}): Server {
  const tokenizer = openTokenizerThread()
  // With the interval at which Node checks connections, a request that never comes to its end is ended within a minute.
  const { keys, admin, countTokens = tokenizer.countTokens, wholeRequestMs = 50_000, lingerMs = 2_000 } = options
  const timing = { requestTimeout: wholeRequestMs, connectionsCheckingInterval: wholeRequestMs / 5 }
  installLambdaGlobal()
  const functions = instance.then((opened) => openFunctions(opened, countTokens, keys))
  functions.catch(() => {})
  const server = createServer(timing, (request, response) => {
    serve(request, response).catch((error) => {
      // A client that leaves while it is still sending is no failure of ours.
      if (!request.destroyed) outputOf(thisTerminal()).error(`The local server failed: ${inspect(error)}`)
      response.destroy()
    })
  })
  server.keepAliveTimeout = 65_000
  server.once('close', () => tokenizer[Symbol.asyncDispose]())
  return server

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!OWN_NAMES.test(request.headers.host ?? '')) {
      endUnread(request, response, lingerMs)
      response.writeHead(403, { 'Content-Type': 'application/json' }).end(JSON.stringify(FOREIGN_HOST))
      return
    }
    const body = await readBody(request)
    const { chat, api } = await functions
    endUnread(request, response, lingerMs)
    const event = toEvent(request, body)
    const endsAtMs = Date.now() + FUNCTION_TIMEOUT_SECONDS * 1000
    const context = { getRemainingTimeInMillis: () => Math.max(0, endsAtMs - Date.now()) } as Context
    const limit = setTimeout(() => response.destroy(), FUNCTION_TIMEOUT_SECONDS * 1000)
    try {
      const name = functionFor(event)
      if (name === 'chat') return await chat(event, new ResponseStream(response), context)
      const answer = await (name === 'admin' && admin ? await admin : api)(event, context)
      response.writeHead(answer.statusCode, answer.headers).end(answer.body)
    } finally {
      clearTimeout(limit)
    }
  }
}

function openFunctions(instance: Instance, countTokens: CountTokens, keys: KeySources | undefined) {
  const parts = { countTokens, ...(keys && { openProvider: openProvider(keys) }) }
  return {
    chat: createChat(instance, parts) as unknown as StreamFunction,
    api: createApi(instance, countTokens) as unknown as JsonFunction,
  }
}

/** The distribution routes unknown paths by their beginning. */
function functionFor({ rawPath, requestContext }: LocalEvent): FunctionName | 'admin' {
  if (Object.values(ADMIN_PATHS).some((root) => rawPath.startsWith(`${root}/`))) return 'admin'
  const found = findRoute(requestContext.http.method, rawPath)
  if ('route' in found) return found.route.endpoint.function
  return CHAT_PATHS.some((start) => rawPath.startsWith(start)) ? 'chat' : 'api'
}

/** A request was sent to this machine by one of its own names, and not by a page whose name resolves to it. */
const OWN_NAMES = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

const WRONG_HOST = 'The Host header must be 127.0.0.1, localhost or [::1]: this gateway serves its own machine only.'
const FOREIGN_HOST = errorEnvelope(new GatewayError('ip_not_allowed', WRONG_HOST, { code: 'host_not_allowed' }))

type ResponseHead = { readonly statusCode: number; readonly headers?: Readonly<Record<string, string>> }

/** Like Lambda's, it goes on when the client has left: the function drains its upstream and settles as always. */
export class ResponseStream extends Writable {
  #response: ServerResponse | undefined

  constructor(response: ServerResponse) {
    super({ decodeStrings: false })
    this.#response = response
  }

  begin({ statusCode, headers }: ResponseHead): void {
    this.#response?.writeHead(statusCode, headers).flushHeaders()
  }

  override _write(chunk: string | Buffer, _: BufferEncoding, done: () => void): void {
    const response = this.#response
    if (!response || response.destroyed || response.write(chunk)) done()
    else afterDrainOrClose(response, done)
  }

  override _final(done: () => void): void {
    this.#response?.end()
    // V8 keeps a stream longer than it lives, and with it all that the stream refers to.
    this.#response = undefined
    done()
  }
}

function afterDrainOrClose(response: ServerResponse, done: () => void): void {
  const proceed = () => {
    response.off('drain', proceed)
    response.off('close', proceed)
    done()
  }
  response.once('drain', proceed)
  response.once('close', proceed)
}

/** The global that Lambda's runtime gives to streaming functions, as far as Middy uses it. */
export function installLambdaGlobal(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: <T>(handler: T) => handler,
      HttpResponseStream: {
        from: (stream: ResponseStream, head: ResponseHead) => {
          stream.begin(head)
          return stream
        },
      },
    },
  })
}
