import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { KEEP_ALIVE_FRAME } from '../wire/frames.ts'

/**
 * How far a client may be behind before the upstream waits for it. Nearly every answer fits, so a client cannot keep an
 * upstream, which bills what it generates, from telling what it has counted.
 */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

/** The client's end of a stream: bounded in what waits for the client, and never silent for long. */
export class FrameSink {
  readonly #stream = new PassThrough({ writableHighWaterMark: MOST_WAITING_BYTES })
  readonly #heartbeat: NodeJS.Timeout
  readonly #patience: AbortSignal

  /** When `patience` is over, a client that is behind counts as one that left. */
  constructor(keepAliveMs: number, patience: AbortSignal) {
    this.#patience = patience
    this.#heartbeat = setInterval(() => this.#stream.write(KEEP_ALIVE_FRAME), keepAliveMs)
    // A client that left takes this stream down; the answer is still drained and billed.
    this.#stream.on('error', () => {})
  }

  get body(): Readable {
    return this.#stream
  }

  /** Waits while the client is too far behind; one that is gone, or counts as gone, is not waited for. */
  async write(frame: string): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableEnded) return
    this.#heartbeat.refresh()
    if (this.#stream.write(frame)) return
    const settled = new AbortController()
    const signal = AbortSignal.any([this.#patience, settled.signal])
    try {
      await Promise.race([once(this.#stream, 'drain', { signal }), once(this.#stream, 'close', { signal })])
    } catch (error) {
      if (this.#patience.aborted) this.end()
      else if (!this.#stream.destroyed) throw error
    } finally {
      settled.abort()
    }
  }

  /** The last words: not waited for. */
  end(...frames: readonly string[]): void {
    clearInterval(this.#heartbeat)
    if (this.#stream.destroyed || this.#stream.writableEnded) return
    for (const frame of frames) this.#stream.write(frame)
    this.#stream.end()
  }
}
