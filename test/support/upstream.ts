import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from './listen.ts'

export type UpstreamRequest = {
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
  /** The client's port: the same port means the same connection. */
  readonly connection: number | undefined
  readonly atMs: number
}

export type Reply = (response: ServerResponse, request: UpstreamRequest) => void | Promise<void>

export type Upstream = AsyncDisposable & {
  readonly url: string
  /** Every request it received, in order. */
  readonly requests: UpstreamRequest[]
  /** How it answers from now on. */
  reply: Reply
}

/** A real HTTP server on loopback that answers as a test tells it to; by default with `sse('Hello')`. */
export async function startUpstream(reply: Reply = say('Hello')): Promise<Upstream> {
  const requests: UpstreamRequest[] = []
  const server = createServer((incoming, response) => {
    receive(incoming).then((request) => upstream.reply(response, request))
  })
  const { url, ...served } = await listen(server)
  const upstream: Upstream = {
    ...served,
    url: `${url}/v1`,
    requests,
    reply,
  }
  return upstream

  async function receive(incoming: IncomingMessage): Promise<UpstreamRequest> {
    const request = {
      headers: incoming.headers,
      body: JSON.parse(await text(incoming)) as Record<string, unknown>,
      connection: incoming.socket.remotePort,
      atMs: Date.now(),
    }
    requests.push(request)
    return request
  }
}

export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

/** One chunk of an OpenAI stream, as the text of its event. */
export function chunk(delta: object, finishReason: string | null = null, rest: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return event({ id: 'up-1', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', choices, ...rest })
}

export function usageChunk(usage: unknown): string {
  return event({ id: 'up-1', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', choices: [], usage })
}

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

export const DONE = 'data: [DONE]\n\n'

/** Answers with these frames, whole or one by one with a pause. */
export function sse(frames: readonly string[], pauseMs = 0): Reply {
  return async (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const frame of frames) {
      response.write(frame)
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    response.end()
  }
}

/** A complete well-formed answer, streamed or whole as it was asked for; with null, one that reports no usage. */
export function say(content: string, usage: unknown = USAGE): Reply {
  const streamed = sse([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content }),
    chunk({}, 'stop'),
    ...(usage === null ? [] : [usageChunk(usage)]),
    DONE,
  ])
  const message = { role: 'assistant', content, refusal: null }
  const whole = status(200, {
    id: 'up-1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    ...(usage !== null && { usage }),
  })
  return (response, request) => (request.body?.stream === false ? whole : streamed)(response, request)
}

/** From now on it is silent until it is told to answer. */
export function holdAnswers(upstream: Upstream): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  upstream.reply = async (response, request) => {
    await promise
    await say('Hello')(response, request)
  }
  return () => {
    upstream.reply = say('Hello')
    resolve()
  }
}

/** From now on it begins streams of "Hello", which end when it is told so. */
export function beginAnswers(upstream: Upstream): () => void {
  const ends: (() => void)[] = []
  upstream.reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(chunk({ role: 'assistant', content: 'Hel' }))
    ends.push(() => response.end(chunk({ content: 'lo' }, 'stop') + usageChunk(USAGE) + DONE))
  }
  return () => {
    for (const end of ends) end()
  }
}

export function status(code: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(code, { 'Content-Type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}
