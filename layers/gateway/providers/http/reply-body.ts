import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { Exchange } from '../../platform/http/exchange.ts'

type Timeouts = { readonly idleTimeoutMs: number; readonly signal: AbortSignal }

/**
 * The bytes of a reply, read on demand. Before the first token only the signal ends a silent upstream: the model may be
 * reasoning. Throws UpstreamFailure and nothing else.
 */
export class ReplyBody {
  readonly #exchange: Exchange
  readonly #idleTimeoutMs: number
  readonly #signal: AbortSignal
  readonly #abort: () => void
  #isTimed = false
  #isWaiting = false
  #idle: NodeJS.Timeout | undefined

  constructor(exchange: Exchange, { idleTimeoutMs, signal }: Timeouts) {
    this.#exchange = exchange
    this.#idleTimeoutMs = idleTimeoutMs
    this.#signal = signal
    // Not assigned inline: V8 keeps such functions, and all that they reach, until a full collection.
    const abort = () => exchange.end(signal.reason)
    this.#abort = abort
    signal.addEventListener('abort', abort, { once: true })
  }

  /** From now on the upstream may be silent for its idle timeout only. */
  startIdleClock(): void {
    this.#isTimed = true
  }

  /** The bytes that have arrived since the last read, as soon as there are any; undefined at the end. */
  async read(): Promise<Buffer | undefined> {
    // The timer runs only while we wait for the upstream, not while a slow client makes us wait.
    if (this.#isTimed) this.#idle = this.#idle?.refresh() ?? setTimeout(() => this.#giveUp(), this.#idleTimeoutMs)
    this.#isWaiting = true
    try {
      return await this.#exchange.read()
    } catch (error) {
      throw toFailure(error, 'reset')
    } finally {
      this.#isWaiting = false
    }
  }

  /** The whole body, if it has come; undefined if it must be waited for. */
  takeWhole(): Buffer | undefined {
    return this.#exchange.takeWhole()
  }

  /** Ends the connection if the reply is left early, and keeps it for the next call if it was read to its end. */
  close(): void {
    clearTimeout(this.#idle)
    this.#signal.removeEventListener('abort', this.#abort)
    this.#exchange.leave()
  }

  #giveUp(): void {
    if (!this.#isWaiting) return
    this.#exchange.end(new UpstreamFailure('timeout', `The upstream sent nothing for ${this.#idleTimeoutMs} ms.`))
  }
}

export function toFailure(error: unknown, reason: 'connect' | 'reset' | 'too_large'): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
  const what = reason === 'connect' ? 'The upstream could not be reached' : 'The upstream broke the connection'
  return new UpstreamFailure(reason, `${what} (${code}).`, {}, { cause: error })
}
