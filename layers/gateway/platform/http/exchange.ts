import { HttpError } from './http-error.ts'
import type { Head } from './response-head.ts'
import { type Receiver, ResponseParser } from './response-parser.ts'

/** The most of a response that may wait to be read before the other side has to wait. */
const MOST_WAITING_BYTES = 64 * 1024
const PARTING_MS = 1_000
const PARTING_BYTES = 64 * 1024

type Carrier = {
  readonly isOpen: boolean
  readonly isReused: boolean
  pause(): void
  resume(): void
  destroy(): void
  release(keptMs: number): void
}

/** One request and its response, on a connection that carries nothing else meanwhile. */
export class Exchange implements Receiver {
  /** Rejects, as `read` does, with an HttpError or with the error that the exchange was ended with. */
  readonly head: Promise<Head>
  readonly #connection: Carrier
  readonly #begun = Promise.withResolvers<Head>()
  readonly #parser = new ResponseParser(this)
  #pieces: Buffer[] = []
  #waitingBytes = 0
  #isOver = false
  #failure: unknown
  #reader: PromiseWithResolvers<Buffer | undefined> | undefined
  #parting: NodeJS.Timeout | undefined

  constructor(connection: Carrier) {
    this.#connection = connection
    this.head = this.#begun.promise
  }

  /** True if the request reached a connection, so that the other side may have read it. */
  get isSent(): boolean {
    return this.#connection.isOpen
  }

  /** The bytes of the body since the last read, as soon as there are any; undefined at its end. One caller at a time. */
  read(): Promise<Buffer | undefined> {
    const reader = Promise.withResolvers<Buffer | undefined>()
    this.#reader = reader
    this.#serveReader()
    return reader.promise
  }

  /** The unread part of the body, if the response is complete; undefined if it must be waited for, or failed. */
  takeWhole(): Buffer | undefined {
    return this.#isOver && this.#failure === undefined ? this.#takePieces() : undefined
  }

  /** Ends the exchange and its connection: bytes that were not read are lost. */
  end(error: unknown): void {
    if (this.#isOver) return
    this.#pieces = []
    this.#fail(error)
    this.#connection.destroy()
  }

  /** Stops reading. Bytes that still come within a moment are thrown away, so that the connection can be used again. */
  leave(): void {
    if (this.#isOver || this.#parting) return
    this.#pieces = []
    this.#waitingBytes = 0
    this.#parting = setTimeout(() => this.end(left()), PARTING_MS).unref()
    this.#connection.resume()
  }

  onBytes(bytes: Buffer): void {
    try {
      this.#parser.feed(bytes)
      if (this.#parser.isDone) this.#connection.release(this.#parser.keptMs)
      this.#serveReader()
    } catch (error) {
      this.#fail(error)
      this.#connection.destroy()
    }
  }

  onClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.#isOver) return
    if (!error && this.#parser.close()) this.#serveReader()
    else if (error instanceof HttpError) this.#fail(error)
    else this.#fail(this.#broken(error))
  }

  onHead(head: Head): void {
    this.#begun.resolve(head)
  }

  onData(bytes: Buffer): void {
    this.#waitingBytes += bytes.length
    if (!this.#parting) {
      this.#pieces.push(bytes)
      if (this.#waitingBytes > MOST_WAITING_BYTES) this.#connection.pause()
    } else if (this.#waitingBytes > PARTING_BYTES) throw left()
  }

  onEnd(): void {
    this.#isOver = true
    clearTimeout(this.#parting)
  }

  #takePieces(): Buffer {
    const [first = Buffer.of(), ...rest] = this.#pieces
    this.#pieces = []
    if (this.#waitingBytes > MOST_WAITING_BYTES && !this.#isOver) this.#connection.resume()
    this.#waitingBytes = 0
    return rest.length === 0 ? first : Buffer.concat([first, ...rest])
  }

  #fail(error: unknown): void {
    this.#isOver = true
    this.#failure = error
    clearTimeout(this.#parting)
    this.#begun.reject(error)
    this.#begun.promise.catch(() => {})
    this.#serveReader()
  }

  #broken(cause: NodeJS.ErrnoException | undefined): HttpError {
    const { code = 'ECONNRESET' } = cause ?? {}
    const isStale = this.#connection.isReused && this.#parser.isUntouched
    return new HttpError(code, messageOf(cause), { cause, isStale })
  }

  #serveReader(): void {
    const reader = this.#reader
    if (!reader || (this.#pieces.length === 0 && !this.#isOver)) return
    this.#reader = undefined
    if (this.#pieces.length > 0) reader.resolve(this.#takePieces())
    else if (this.#failure !== undefined) reader.reject(this.#failure)
    else reader.resolve(undefined)
  }
}

/** The error of a host with several addresses, all of which were tried, has no message of its own. */
function messageOf(error: Partial<AggregateError> | undefined): string {
  const { message = 'The other side closed too early.', errors = [] } = error ?? {}
  return message === '' ? errors.map((each: Error) => each.message).join('; ') : message
}

function left(): HttpError {
  return new HttpError('ECONNABORTED', 'The rest was not read.')
}
