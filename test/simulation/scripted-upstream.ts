import type { ChatBody, ChatPart, ChatRequest } from '../../layers/gateway/domain/chat/chat.ts'
import type { Embedding } from '../../layers/gateway/domain/chat/embedding.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { ChatCall, EmbedCall, Provider } from '../../layers/gateway/providers/provider.ts'
import type { Script } from './history.ts'

/** Resolves when the upstream's next word has arrived. */
export type Ask = (script: Script) => Promise<void>

export type Usage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens?: number
}

/** The upstreams' knowledge of one call, apart from the gateway's. */
export type Truth = {
  readonly keyId: string
  attempts: number
  /** True if the last one that was asked has sent something. */
  said: boolean
  /** Tokens that the upstream whose answer is the last will bill. */
  counted?: Usage | undefined
  /** The cap that the last of them was given and ignored. */
  ignoredCap?: number | undefined
  /** Tokens that others may have generated before they were given up. */
  unpaid: number
  /** One of them had no words for what was asked. */
  lackedWords: boolean
  /** One of them failed in a way that only the caller's body can bring about. */
  provoked: boolean
  /** The cheap one was left out, though no requests of two keys had failed there. */
  passedOver: boolean
}

export function newTruth(keyId: string): Truth {
  return { keyId, attempts: 0, said: false, lackedWords: false, provoked: false, passedOver: false, unpaid: 0 }
}

/** The numbers in each vector. */
export const DIMENSIONS = 4

const COUNTED: Partial<Record<Script, Usage>> = {
  answers: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
  'counts zero': { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  thinks: { prompt_tokens: 12, completion_tokens: 2, total_tokens: 24 },
  'reads long': { prompt_tokens: 120, completion_tokens: 5, total_tokens: 125 },
  'reads more': { prompt_tokens: 260, completion_tokens: 2, total_tokens: 262 },
  boasts: { prompt_tokens: 10 ** 9, completion_tokens: 10 ** 9 },
  kills: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
}

/** More than any request of the simulation may ask for. */
const MOST_TOKENS = 300

/** The fields that one of them does not support, in the inner format of each contract. */
const LACKING = ['logprobs', 'top_k', 'truncate']

export type Scripted = {
  readonly ask: Ask
  readonly truth: Truth
  /** Requests at which the cheap one has failed as the gateway's process saw it, each by its key and body. */
  readonly reporters: Set<string>
  /** Ends the process that is listening. */
  readonly kill: () => void
}

/** An upstream that does what the request's `user` field says: the first that is asked the one thing, others the other. */
export function scriptedProvider(id: string, { ask, truth, reporters, kill }: Scripted): Provider {
  function fails(body: ChatBody, failure: UpstreamFailure): never {
    reporters.add(`${truth.keyId} ${JSON.stringify(body)}`)
    throw failure
  }

  /** Hears a question, and returns what it does with it once its first word is due. */
  async function begin({ body, raw }: ChatRequest, signal: AbortSignal, cap: number) {
    const { user_id: user = raw.user } = (raw.metadata ?? {}) as ChatBody
    const scripts = String(user).split('|') as Script[]
    const script = scripts[Math.min(truth.attempts, 1)] as Script
    if (id === 'dearer' && truth.attempts === 0 && !areOfTwo(reporters)) truth.passedOver = true
    truth.attempts += 1
    truth.counted = undefined
    truth.said = false
    truth.ignoredCap = undefined
    const param = LACKING.find((name) => body[name] !== undefined)
    if (id === 'narrow' && param) {
      truth.lackedWords = true
      throw new UpstreamFailure('unsupported', 'It has no words for that.', { param })
    }
    const untilLeft = (work: Promise<void>) => untilAborted(work, signal).catch((failure) => fails(body, failure))
    const next = () => untilLeft(ask(script))
    if (script === 'hangs') {
      truth.unpaid += cap
      await untilLeft(new Promise(() => {}))
    }
    await next()
    if (script === 'refuses') fails(body, new UpstreamFailure('status', 'It refuses.', { status: 500 }))
    if (script === 'supports nothing') {
      truth.provoked = true
      throw new UpstreamFailure('status', 'It has no endpoint for that.', { status: 404 })
    }
    return { script, next }
  }

  return {
    id,
    async *chat(call: ChatCall): AsyncGenerator<readonly ChatPart[]> {
      const { script, next } = await begin(call.chat, call.signal, call.outputCap)
      call.noteAnswered?.()
      truth.said = true
      yield [choice('Hello', null)]
      await next()
      if (script === 'breaks') fails(call.chat.body, new UpstreamFailure('reset', 'It broke.'))
      if (script === 'ignores its cap') {
        truth.ignoredCap = call.outputCap
        yield [choice(' word'.repeat(MOST_TOKENS), null)]
      }
      yield [choice(' there', 'stop')]
      const usage = COUNTED[script]
      truth.counted = usage
      if (usage) yield [{ kind: 'usage', usage }]
      if (script === 'kills') {
        kill()
        await new Promise(() => {})
      }
    },
    async embed(call: EmbedCall): Promise<Embedding> {
      const { script, next } = await begin(call.chat, call.signal, 0)
      call.noteAnswered?.()
      await next()
      if (script === 'breaks') fails(call.chat.body, new UpstreamFailure('reset', 'It broke.'))
      truth.said = true
      const counted = COUNTED[script]
      truth.counted = counted && { ...counted, completion_tokens: 0, total_tokens: counted.prompt_tokens }
      if (script === 'kills') {
        kill()
        await new Promise(() => {})
      }
      const vectors = call.embedding.inputs.map(() => new Float64Array(DIMENSIONS))
      const { completion_tokens: _, ...usage } = truth.counted ?? {}
      return { vectors, usage: truth.counted && usage }
    },
  }
}

/** True if two of them are of two keys, with two bodies. */
function areOfTwo(reporters: ReadonlySet<string>): boolean {
  const all = [...reporters].map((reporter) => reporter.split(/ (.*)/s))
  return all.some(([key, body]) => all.some(([other, said]) => other !== key && said !== body))
}

function choice(content: string, finishReason: string | null): ChatPart {
  return { kind: 'choice', index: 0, delta: { content }, logprobs: null, finishReason }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw signal.reason
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
