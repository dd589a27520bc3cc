import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { ALPHABET, type Answer, answerOf } from './answers.ts'

export type Upstream = AsyncDisposable & {
  /** With the /v1 that clients expect. */
  readonly url: string
}

/** An OpenAI-compatible provider that answers at once, by the name of the model. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    reply(request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 65_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { model, stream } = JSON.parse(await text(request)) as { model: string; stream?: boolean }
  const answer = answerOf(model)
  if (stream) return sendStream(answer, model, response)
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.end(wholeAnswer(answer, model))
}

async function sendStream(answer: Answer, model: string, response: ServerResponse): Promise<void> {
  const { everyMs, firstMs = 0 } = answer
  if (firstMs > 0) await sleep(firstMs)
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write(frameOf(model, { delta: { role: 'assistant', content: '' }, finish_reason: null }))
  const frames = piecesOf(answer).map((content) => frameOf(model, { delta: { content }, finish_reason: null }))
  for (const frame of frames) {
    response.write(frame)
    if (everyMs > 0) await sleep(everyMs)
  }
  response.write(frameOf(model, { delta: {}, finish_reason: 'stop' }))
  response.write(`data: ${JSON.stringify({ ...headOf(model), choices: [], usage: usageOf(answer) })}\n\n`)
  response.end('data: [DONE]\n\n')
}

function wholeAnswer(answer: Answer, model: string): string {
  const message = { role: 'assistant', content: pieceOf(answer).repeat(answer.chunks) }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return JSON.stringify({ ...headOf(model), object: 'chat.completion', choices, usage: usageOf(answer) })
}

function frameOf(model: string, choice: object): string {
  return `data: ${JSON.stringify({ ...headOf(model), choices: [{ index: 0, ...choice }] })}\n\n`
}

function headOf(model: string) {
  return { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model }
}

/** One token a chunk. */
function usageOf({ chunks }: Answer) {
  return { prompt_tokens: 10, completion_tokens: chunks, total_tokens: 10 + chunks }
}

function pieceOf({ characters }: Answer): string {
  return ALPHABET.slice(0, characters)
}

function piecesOf(answer: Answer): string[] {
  if (!answer.isProse) return Array.from({ length: answer.chunks }, () => pieceOf(answer))
  const prose = readFileSync(new URL('../../docs/guarantees.md', import.meta.url), 'utf8').replaceAll(/[|`*#\s]+/g, ' ')
  return Array.from({ length: answer.chunks }, (_, i) =>
    prose.slice(i * answer.characters, (i + 1) * answer.characters),
  )
}
