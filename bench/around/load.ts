import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from './answers.ts'

export const AT_ONCE = 16

/** The address of requests, and their headers: the same for all callers, or one set for each in turn. */
export type Target = { readonly url: string; readonly headers: Headers | readonly Headers[] }
type Headers = Readonly<Record<string, string>>

/** Connections are kept, as an SDK keeps them. */
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

export type Chat = { readonly model: Model; readonly stream: boolean }

/** Sends this number of requests, sixteen concurrently. */
export async function sendMany(target: Target, chat: Chat, count: number): Promise<void> {
  await sendWhile(target, chat, (sent) => sent < count)
}

/** Sends requests for this time, sixteen concurrently. Returns their number. */
export function sendFor(target: Target, chat: Chat, ms: number): Promise<number> {
  const untilMs = performance.now() + ms
  return sendWhile(target, chat, () => performance.now() < untilMs)
}

const PAUSE_MS = 5

/** Sends requests for this time, one after the other with a pause, in which caches grow cold. Returns their number. */
export async function sendRarely(target: Target, chat: Chat, ms: number): Promise<number> {
  const untilMs = performance.now() + ms
  let sent = 0
  for (; performance.now() < untilMs; sent++) {
    await sendOne(target, chat)
    await sleep(PAUSE_MS)
  }
  return sent
}

async function sendWhile(target: Target, chat: Chat, isOn: (sent: number) => boolean): Promise<number> {
  let sent = 0
  async function sendInTurn(_: unknown, caller: number): Promise<void> {
    while (isOn(sent)) {
      sent += 1
      await sendOne(target, chat, caller)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendInTurn))
  return sent
}

/** The first chunk begins with the alphabet. */
const FIRST_TOKEN = '"content":"a'

function sendOne({ url, headers }: Target, { model, stream }: Chat, caller = 0): Promise<void> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] })
  return new Promise((resolve, reject) => {
    const own = Array.isArray(headers) ? headers[caller % headers.length] : headers
    const head = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...own }
    const sent = request(`${url}/chat/completions`, { agent, method: 'POST', headers: head })
    sent.once('error', reject)
    sent.once('response', (response: IncomingMessage) => {
      let beginning = ''
      response.on('data', (chunk: Buffer) => {
        if (!beginning.includes(FIRST_TOKEN)) beginning += chunk.toString('latin1')
      })
      response.once('error', reject)
      response.once('end', () => {
        if (response.statusCode === 200 && beginning.includes(FIRST_TOKEN)) resolve()
        else reject(new Error(`${url} answered ${response.statusCode}: ${beginning.slice(0, 300)}`))
      })
    })
    sent.end(body)
  })
}
