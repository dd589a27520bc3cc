import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { CountTokens } from '../layers/gateway/flow/billing/count-texts.ts'
import type { TokenAnswer, TokenQuestion } from '../layers/tokenizer/answer-question.ts'

export type Question = TokenQuestion & { readonly id: number }
export type Answer = TokenAnswer & { readonly id: number }

export type TokenizerThread = AsyncDisposable & { readonly countTokens: CountTokens }

type Options = { readonly file?: URL; readonly mostMs?: number }

// TypeScript in a clone, JavaScript in a package.
const FILE = new URL(`tokenizer-worker${extname(import.meta.url)}`, import.meta.url)
/** Longer than any question takes, on any machine. */
const MOST_MS = 30_000

/** The tokenizer in a thread, which starts with the first question and again if it has died. It keeps no process alive. */
export function openTokenizerThread({ file = FILE, mostMs = MOST_MS }: Options = {}): TokenizerThread {
  const waiting = new Map<number, PromiseWithResolvers<readonly number[]>>()
  let thread: Worker | undefined
  let lastId = 0

  async function countTokens(texts: readonly string[], withinMs: number): Promise<readonly number[]> {
    if (waiting.size >= 64) throw new Error('Too many questions wait for the tokenizer.')
    thread ??= start()
    const id = ++lastId
    const answered = Promise.withResolvers<readonly number[]>()
    waiting.set(id, answered)
    thread.postMessage({ id, texts } satisfies Question)
    const ms = Math.min(mostMs, withinMs)
    const timer = setTimeout(() => {
      answered.reject(new Error(`The tokenizer did not answer within ${ms} ms.`))
      if (ms === mostMs) end('hangs')
    }, ms)
    return answered.promise.finally(() => clearTimeout(timer))
  }

  function start(): Worker {
    const started = new Worker(file, { env: {}, execArgv: [] })
    const died = () => {
      if (thread === started) end('died')
    }
    started.on('message', ({ id, tokens }: Answer) => {
      waiting.get(id)?.resolve(tokens)
      waiting.delete(id)
    })
    // Its errors are not passed on: they are not ours, and may quote the text that was counted.
    started.on('error', died)
    started.on('exit', died)
    started.unref()
    return started
  }

  function end(why: string): Promise<unknown> {
    const ended = thread?.terminate()
    thread = undefined
    for (const { reject } of waiting.values()) reject(new Error(`The tokenizer’s thread ${why}.`))
    waiting.clear()
    return ended ?? Promise.resolve()
  }

  return {
    countTokens,
    async [Symbol.asyncDispose]() {
      await end('was ended')
    },
  }
}
