import { Readable } from 'node:stream'
import { KEEP_ALIVE_FRAME } from '../../wire/chat/frames.ts'

/**
 * The most bytes that a client may be behind before the upstream waits for it. Nearly every answer fits, so a client
 * cannot keep an upstream, which bills the tokens it generates, from reporting its counts.
 */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

/** Nothing waits to be woken. */
function nobody(): void {}

/** The client's end of a stream: bounded in the bytes that wait for the client, and never silent for long. */
export class FrameSink {
  readonly #stream: Readable
  readonly #heartbeat: NodeJS.Timeout
  readonly #deadline: AbortSignal
  #wake = nobody
  #hasEnded = false

  /** A client that is behind when `deadline` aborts counts as one that left. */
  constructor(keepAliveMs: number, deadline: AbortSignal) {
    this.#deadline = deadline
    this.#stream = new Readable({ highWaterMark: MOST_WAITING_BYTES, read: () => this.#wake() })
    this.#heartbeat = setInterval(() => this.write(KEEP_ALIVE_FRAME), keepAliveMs)
    // A client that left closes this stream; the answer is still drained and billed.
    this.#stream.on('error', () => {})
    this.#stream.once('close', () => this.#wake())
    // Lambda may hold a stream's first small write back until the second, and this one can wait.
    this.write(KEEP_ALIVE_FRAME)
  }

  get body(): Readable {
    return this.#stream
  }

  /** True if the client is too far behind. A client that is gone, or counts as gone, is not. */
  get isFull(): boolean {
    return this.#isOpen && this.#stream.readableLength >= MOST_WAITING_BYTES
  }

  write(frames: string): void {
    if (frames === '' || !this.#isOpen) return
    this.#heartbeat.refresh()
    this.#stream.push(frames)
  }

  /** Waits until the client has caught up; one that has not at the deadline counts as gone. */
  async hasRoom(): Promise<void> {
    const giveUp = () => this.end()
    this.#deadline.addEventListener('abort', giveUp, { once: true })
    if (this.#deadline.aborted) giveUp()
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#wake = nobody
    this.#deadline.removeEventListener('abort', giveUp)
  }

  /** The last frames, which are not awaited. */
  end(...frames: readonly string[]): void {
    clearInterval(this.#heartbeat)
    if (!this.#isOpen) return
    for (const frame of frames) if (frame !== '') this.#stream.push(frame)
    this.#hasEnded = true
    this.#stream.push(null)
    this.#wake()
  }

  get #isOpen(): boolean {
    return !this.#hasEnded && !this.#stream.destroyed
  }
}
