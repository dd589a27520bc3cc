import type { IncomingMessage } from 'node:http'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'

type Patience = { readonly idleTimeoutMs: number; readonly mayBeginLate: boolean; readonly signal: AbortSignal }

/** The bytes of a reply, read when they are asked for. Throws UpstreamFailure and nothing else. */
export class ReplyBody {
  readonly #response: IncomingMessage
  readonly #idleTimeoutMs: number
  readonly #signal: AbortSignal
  readonly #abort: () => void
  readonly #hear = () => this.#wake?.()
  #isTimed: boolean
  #idle: NodeJS.Timeout | undefined
  #wake: (() => void) | undefined
  #failure: unknown
  #isOver = false

  constructor(response: IncomingMessage, { idleTimeoutMs, mayBeginLate, signal }: Patience) {
    this.#response = response
    this.#idleTimeoutMs = idleTimeoutMs
    this.#isTimed = !mayBeginLate
    this.#signal = signal
    this.#abort = () => response.destroy(signal.reason)
    if (signal.aborted) this.#abort()
    signal.addEventListener('abort', this.#abort, { once: true })
    response.on('readable', this.#hear)
    response.once('end', () => this.#finish())
    response.once('error', (error) => this.#finish(error))
    response.once('close', () => this.#finish(response.complete ? undefined : new Error('closed')))
  }

  /** All that has arrived since, as soon as there is any; undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      const chunk: Buffer | null = this.#response.read()
      if (chunk !== null) {
        this.#isTimed = true
        return chunk
      }
      if (this.#failure !== undefined) throw toFailure(this.#failure, 'reset')
      if (this.#isOver) return undefined
      await this.#more()
    }
  }

  /** Ends the connection if the reply is left early, and keeps it for the next call if it was read to its end. */
  close(): void {
    clearTimeout(this.#idle)
    this.#signal.removeEventListener('abort', this.#abort)
    this.#response.off('readable', this.#hear)
    letGo(this.#response)
  }

  /** The clock runs only while we wait for the upstream, not while a slow client makes us wait. */
  #more(): Promise<void> {
    if (this.#isTimed) this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.#giveUp(), this.#idleTimeoutMs)
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }

  #giveUp(): void {
    if (!this.#wake) return
    this.#response.destroy(new UpstreamFailure('timeout', `The upstream sent nothing for ${this.#idleTimeoutMs} ms.`))
  }

  #finish(failure?: unknown): void {
    if (!this.#isOver) this.#failure = failure
    this.#isOver = true
    this.#wake?.()
  }
}

const PARTING_MS = 1_000
const PARTING_BYTES = 64 * 1024

/** Reads away the bytes that follow an answer's end, for a short time, so that the connection can be used again. */
function letGo(response: IncomingMessage): void {
  if (response.complete || response.destroyed) return
  const end = () => response.destroy()
  const timer = setTimeout(end, PARTING_MS).unref()
  let bytes = 0
  response.on('error', () => {})
  response.once('close', () => clearTimeout(timer))
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > PARTING_BYTES) end()
  })
}

export function toFailure(error: unknown, reason: 'connect' | 'reset'): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
  const what = reason === 'connect' ? 'The upstream could not be reached' : 'The upstream broke the connection'
  return new UpstreamFailure(reason, `${what} (${code}).`, {}, { cause: error })
}
