import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from './upstream.ts'

export const AT_ONCE = 16

/** The address of requests, and their headers: a set for each caller in turn. */
export type Target = {
  readonly url: string
  readonly headers: readonly Readonly<Record<string, string>>[]
}
/** A gateway in a process of its own, whose processor time is measured. */
export type Subject = { readonly target: Target; consumption(): Promise<number> }
export type Chat = { readonly model: Model; readonly stream: boolean }

/** Connections are kept, as an SDK keeps them. */
const agent = new Agent({ keepAlive: true })

type Manner = { readonly atOnce: number; readonly pauseMs: number }
/** One after the other with a pause, in which caches grow cold. */
export const RARELY: Manner = { atOnce: 1, pauseMs: 5 }

export async function send(
  target: Target,
  chat: Chat,
  isOn: (sent: number) => boolean,
  { atOnce, pauseMs }: Manner = { atOnce: AT_ONCE, pauseMs: 0 },
): Promise<number> {
  let sent = 0
  async function sendInTurn(_: unknown, caller: number): Promise<void> {
    while (isOn(sent)) {
      sent += 1
      await ask(target, chat, caller)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendInTurn))
  return sent
}

export type Turn = {
  /** The same for every subject: one that had less time would meet less of the machine's other work. */
  readonly ms: number
  /** Not counted: during the turns of others, the caches of the core held their data. */
  readonly beginningMs: number
  readonly manner?: Manner
}

export async function cpuOf({ target, consumption }: Subject, chat: Chat, turn: Turn): Promise<number> {
  const { ms, beginningMs, manner } = turn
  const sendFor = (time: number) => {
    const untilMs = performance.now() + time
    return send(target, chat, () => performance.now() < untilMs, manner)
  }
  await sendFor(beginningMs)
  const before = await consumption()
  const count = await sendFor(ms)
  return ((await consumption()) - before) / count
}

/** The first chunk begins with the alphabet. */
const FIRST_TOKEN = '"content":"a'

/** Resolves when a whole answer with the content has come. */
function ask({ url, headers }: Target, { model, stream }: Chat, caller: number): Promise<void> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] })
  return new Promise((resolve, reject) => {
    const own = headers[caller % headers.length]
    const head = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...own }
    const sent = request(`${url}/chat/completions`, { agent, method: 'POST', headers: head })
    sent.once('error', reject)
    sent.once('response', (response) => {
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
