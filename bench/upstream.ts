import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenHere } from '../local/dynamodb/http-server.ts'

type Answer = {
  readonly chunks: number
  readonly characters: number
  readonly everyMs: number
  readonly isProse?: true
}

const ANSWERS = {
  /** The request that is measured, as a whole or as a stream. */
  'hundred-chunks': { chunks: 100, characters: 20, everyMs: 0 },
  'hundred-slow-chunks': { chunks: 100, characters: 20, everyMs: 5 },
  /** Shows the cost of a stream apart from its chunks. */
  'one-chunk': { chunks: 1, characters: 20, everyMs: 0 },
  /** The chat of the bill: English prose, about four characters a token, because it is compressed. Not all comes at once. */
  'three-hundred-tokens': { chunks: 300, characters: 4, everyMs: 1, isProse: true },
} as const satisfies Record<string, Answer>

export type Model = keyof typeof ANSWERS
export const MODELS = Object.keys(ANSWERS) as Model[]

/** An OpenAI-compatible provider that answers at once, by the name of the model. Its address has the /v1 of clients. */
export async function startUpstream(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    reply(request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 65_000
  return {
    url: `http://127.0.0.1:${await listenHere(server)}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model, stream } = JSON.parse(await text(request)) as { model: Model; stream?: boolean }
  const answer: Answer = ANSWERS[model]
  const { chunks, everyMs } = answer
  const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model }
  // One token a chunk.
  const usage = { prompt_tokens: 10, completion_tokens: chunks, total_tokens: 10 + chunks }
  const pieces = piecesOf(answer)
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: pieces.join('') }, finish_reason: 'stop' }]
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }))
    return
  }
  const frame = (members: object) => `data: ${JSON.stringify({ ...head, ...members })}\n\n`
  const choice = (delta: object, reason: string | null = null) =>
    frame({ choices: [{ index: 0, delta, finish_reason: reason }] })
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write(choice({ role: 'assistant', content: '' }))
  for (const written of pieces.map((content) => choice({ content }))) {
    response.write(written)
    if (everyMs > 0) await sleep(everyMs)
  }
  response.write(choice({}, 'stop'))
  response.write(frame({ choices: [], usage }))
  response.end('data: [DONE]\n\n')
}

function piecesOf({ chunks, characters, isProse }: Answer): string[] {
  if (!isProse) return Array<string>(chunks).fill('abcdefghijklmnopqrstuvwxyz'.slice(0, characters))
  const prose = readFileSync(new URL('../docs/guarantees.md', import.meta.url), 'utf8').replaceAll(/[|`*#\s]+/g, ' ')
  return Array.from({ length: chunks }, (_, i) => prose.slice(i * characters, (i + 1) * characters))
}
