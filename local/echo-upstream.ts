import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

type EchoRequest = {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly stream_options?: { readonly include_usage?: boolean }
}

/** A text completion has a prompt in place of messages. */
type TextRequest = Omit<EchoRequest, 'messages'> & { readonly prompt: unknown }

type Echo = { readonly url: string; readonly close: () => void }
/** With the address that it had when the gateway was last started in the folder. */
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: urlOf((server.address() as AddressInfo).port),
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
  const body: EchoRequest | TextRequest = JSON.parse(await text(incoming))
  const request = 'messages' in body ? body : { ...body, messages: [{ role: 'user', content: body.prompt }] }
  const words = wordsOf(`echo: ${lastUserText(request)}`)
  const cap = request.max_completion_tokens ?? request.max_tokens ?? words.length
  const said = words.slice(0, cap)
  const finishReason = said.length < words.length ? 'length' : 'stop'
  const promptTokens = request.messages.reduce((sum, { content }) => sum + wordsOf(textOf(content)).length, 0)
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: said.length,
    total_tokens: promptTokens + said.length,
  }
  const object = isText ? 'text_completion' : request.stream ? 'chat.completion.chunk' : 'chat.completion'
  const head = { id: 'cmpl-echo', object, created: Math.floor(Date.now() / 1000), model: 'echo' }
  if (!request.stream) {
    const spoken = isText ? { text: said.join('') } : { message: { role: 'assistant', content: said.join('') } }
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ ...head, choices: [{ index: 0, ...spoken, finish_reason: finishReason }], usage }))
    return
  }
  const chunk = (rest: object) => `data: ${JSON.stringify({ ...head, ...rest })}\n\n`
  const choice = (word: string, reason: string | null) => {
    const spoken = isText ? { text: word } : { delta: word === '' ? {} : { content: word } }
    return chunk({ choices: [{ index: 0, ...spoken, finish_reason: reason }] })
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  for (const word of said) response.write(choice(word, null))
  response.write(choice('', finishReason))
  if (request.stream_options?.include_usage) response.write(chunk({ choices: [], usage }))
  response.end('data: [DONE]\n\n')
}

/** This model's tokens are words with the space that follows them, and it counts the words that it really reads and writes. */
function wordsOf(content: string): string[] {
  return content.match(/\S+\s*|\s+/g) ?? []
}

function lastUserText({ messages }: EchoRequest): string {
  return textOf(messages.findLast(({ role }) => role === 'user')?.content)
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('')
}
