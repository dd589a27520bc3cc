import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { listenHere } from './dynamodb/http-server.ts'

type EchoRequest = {
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[]
  readonly prompt?: unknown
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly stream_options?: { readonly include_usage?: boolean }
}

type Echo = { readonly url: string; readonly close: () => void }
export type KeptEcho = Echo & { readonly formerUrl: string | undefined }

/** The echo upstream at the port of the last start, which is usually free again: stored catalogs name it. */
export async function startKeptEcho(folder: string): Promise<KeptEcho> {
  const file = join(folder, 'echo-port')
  const kept = Number(await readFile(file, 'utf8').catch(() => '')) || undefined
  const echo = await startEcho(kept).catch(() => startEcho())
  await writeFile(file, new URL(echo.url).port, { mode: 0o600 })
  return { ...echo, formerUrl: kept === undefined ? undefined : urlOf(kept) }
}

/** An OpenAI-compatible upstream that needs no network: it says `echo: ` and the last user message. */
export async function startEcho(port = 0): Promise<Echo> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return {
    url: urlOf(await listenHere(server, port)),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}/v1`
}

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const isText = incoming.url?.endsWith('/chat/completions') === false
  const request: EchoRequest = JSON.parse(await text(incoming))
  const { messages = [{ role: 'user', content: request.prompt }], stream = false } = request
  const words = wordsOf(`echo: ${textOf(messages.findLast(({ role }) => role === 'user')?.content)}`)
  const said = words.slice(0, request.max_completion_tokens ?? request.max_tokens ?? words.length)
  const finishReason = said.length < words.length ? 'length' : 'stop'
  const promptTokens = messages.reduce((sum, { content }) => sum + wordsOf(textOf(content)).length, 0)
  const totalTokens = promptTokens + said.length
  const usage = { prompt_tokens: promptTokens, completion_tokens: said.length, total_tokens: totalTokens }
  const object = isText ? 'text_completion' : stream ? 'chat.completion.chunk' : 'chat.completion'
  const head = { id: 'cmpl-echo', object, created: Math.floor(Date.now() / 1000), model: 'echo' }
  const choices = (spoken: object, reason: string | null) => [{ index: 0, ...spoken, finish_reason: reason }]
  if (!stream) {
    const content = said.join('')
    const spoken = isText ? { text: content } : { message: { role: 'assistant', content } }
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ ...head, choices: choices(spoken, finishReason), usage }))
    return
  }
  const write = (rest: object) => response.write(`data: ${JSON.stringify({ ...head, ...rest })}\n\n`)
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  for (const word of said) write({ choices: choices(isText ? { text: word } : { delta: { content: word } }, null) })
  write({ choices: choices(isText ? { text: '' } : { delta: {} }, finishReason) })
  if (request.stream_options?.include_usage) write({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}

/** This model's tokens are words with the space that follows them, and it counts the words that it really reads and writes. */
function wordsOf(content: string): string[] {
  return content.match(/\S+\s*|\s+/g) ?? []
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('')
}
