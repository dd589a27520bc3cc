import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { KEEP_ALIVE_FRAME } from '../wire/frames.ts'

/** The client's end of a stream: bounded by the client's own pace, and never silent for long. */
export class FrameSink {
  readonly #stream = new PassThrough()
  readonly #heartbeat: NodeJS.Timeout
  readonly #signal: AbortSignal

  constructor(keepAliveMs: number, signal: AbortSignal) {
    this.#signal = signal
    this.#heartbeat = setInterval(() => this.#stream.write(KEEP_ALIVE_FRAME), keepAliveMs)
    // A client that left takes this stream down; the answer is still drained and billed.
    this.#stream.on('error', () => {})
  }

  get body(): Readable {
    return this.#stream
  }

  /** Waits while the client is behind, until the deadline; a client that is gone is not waited for. */
  async write(frame: string): Promise<void> {
    if (this.#stream.destroyed) return
    this.#heartbeat.refresh()
    if (this.#stream.write(frame)) return
    const settled = new AbortController()
    const signal = AbortSignal.any([this.#signal, settled.signal])
    try {
      await Promise.race([once(this.#stream, 'drain', { signal }), once(this.#stream, 'close', { signal })])
    } catch (error) {
      if (this.#signal.aborted) throw this.#signal.reason
      if (!this.#stream.destroyed) throw error
    } finally {
      settled.abort()
    }
  }

  /** The last words: not waited for. */
  end(...frames: readonly string[]): void {
    clearInterval(this.#heartbeat)
    if (this.#stream.destroyed) return
    for (const frame of frames) this.#stream.write(frame)
    this.#stream.end()
  }
}
