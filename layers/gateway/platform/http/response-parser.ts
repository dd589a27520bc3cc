import { HttpError } from './http-error.ts'
import { type Head, MOST_HEAD_BYTES, parseHead } from './response-head.ts'

export type Receiver = {
  onHead(head: Head): void
  onData(bytes: Buffer): void
  onEnd(): void
}

type State =
  | 'head'
  | 'counted'
  | 'until close'
  | 'chunk size'
  | 'space after size'
  | 'chunk extension'
  | 'after size'
  | 'chunk'
  | 'after chunk'
  | 'after chunk, CR'
  | 'trailer'
  | 'trailer, CR'
  | 'done'

const BEGINNING = Buffer.from('HTTP/1.')
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const [CR, LF, SEMICOLON, SPACE, TAB, DELETE] = [13, 10, 59, 32, 9, 127]
const MOST_SIZE_LINE_BYTES = 4 * 1024

/** Reads one HTTP/1.1 response from pieces of any size, as strictly as RFC 9112 demands. Throws an HttpError. */
export class ResponseParser {
  /** How long the connection may be kept for another response; 0 if it may not. */
  keptMs = 0
  readonly #receiver: Receiver
  #state: State = 'head'
  #begun: Buffer | undefined
  /** The bytes of interim responses. */
  #headBytes = 0
  /** The bytes of the body, or of the chunk, that are still to come. */
  #left = 0
  /** The bytes of the line that is being read. */
  #lineBytes = 0
  #trailerBytes = 0

  constructor(receiver: Receiver) {
    this.#receiver = receiver
  }

  get isUntouched(): boolean {
    return this.#state === 'head' && this.#begun === undefined && this.#headBytes === 0
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  feed(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) at = this.#take(bytes, at)
  }

  /** The connection has closed. False if the response is not whole. */
  close(): boolean {
    if (this.#state === 'until close') this.#end()
    return this.isDone
  }

  #take(bytes: Buffer, at: number): number {
    const state = this.#state
    if (state === 'head') return this.#takeHead(bytes, at)
    if (state === 'counted' || state === 'chunk') return this.#takeBody(bytes, at)
    if (state !== 'until close' && state !== 'done') {
      this.#takeFraming(state, bytes[at] as number)
      return at + 1
    }
    if (state === 'until close') this.#receiver.onData(at === 0 ? bytes : bytes.subarray(at))
    // More bytes than the response has.
    else this.keptMs = 0
    return bytes.length
  }

  #takeHead(bytes: Buffer, at: number): number {
    const before = this.#begun?.length ?? 0
    const rest = at === 0 ? bytes : bytes.subarray(at)
    const all = this.#begun ? Buffer.concat([this.#begun, rest]) : rest
    // The end may have begun in the piece before.
    const end = all.indexOf(END_OF_HEAD, Math.max(0, before - END_OF_HEAD.length))
    const headBytes = this.#headBytes + (end === -1 ? all.length : end + END_OF_HEAD.length)
    if (headBytes > MOST_HEAD_BYTES) throw bad(`a head of more than ${MOST_HEAD_BYTES} bytes`)
    if (end === -1) {
      requireBeginning(all)
      requireLines(all, before)
      this.#begun = all
      return bytes.length
    }
    this.#begun = undefined
    const head = parseHead(all.toString('latin1', 0, end))
    if (head.status < 200) this.#headBytes = headBytes
    else this.#begin(head)
    return at + end + END_OF_HEAD.length - before
  }

  #begin(head: Head): void {
    const { body } = head
    this.keptMs = head.keptMs
    this.#left = typeof body === 'number' ? body : 0
    this.#state = body === 'chunked' ? 'chunk size' : body === 'until close' ? 'until close' : 'counted'
    this.#receiver.onHead(head)
    if (body === 0) this.#end()
  }

  #takeBody(bytes: Buffer, at: number): number {
    const next = Math.min(bytes.length, at + this.#left)
    this.#left -= next - at
    this.#receiver.onData(at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next))
    if (this.#left > 0) return next
    if (this.#state === 'chunk') this.#state = 'after chunk'
    else this.#end()
    return next
  }

  /** One byte of the framing around the chunks of a body. */
  #takeFraming(state: State, byte: number): void {
    this.#lineBytes += 1
    if (state === 'chunk size' || state === 'space after size' || state === 'chunk extension') {
      if (this.#lineBytes > MOST_SIZE_LINE_BYTES) throw bad('a chunk whose size does not end')
      this.#takeSizeLine(state, byte)
    } else if (state === 'after size') {
      if (byte !== LF) throw bad('a chunk whose size does not end its line')
      this.#expect(this.#left === 0 ? 'trailer' : 'chunk')
    } else if (state === 'after chunk' || state === 'after chunk, CR') {
      if (byte !== (state === 'after chunk' ? CR : LF)) throw bad('a chunk that is longer than it says')
      this.#expect(state === 'after chunk' ? 'after chunk, CR' : 'chunk size')
    } else this.#takeTrailer(state, byte)
  }

  #takeSizeLine(state: State, byte: number): void {
    const digit = state === 'chunk size' ? hexDigit(byte) : -1
    if (digit !== -1) {
      this.#left = this.#left * 16 + digit
      if (this.#left > Number.MAX_SAFE_INTEGER) throw bad('a chunk that is too long')
    } else if (this.#lineBytes === 1) throw bad('a chunk without a size')
    else if (byte === CR) this.#expect('after size')
    else if (state === 'chunk extension') requireText(byte)
    else if (byte === SEMICOLON) this.#state = 'chunk extension'
    else if (byte === SPACE || byte === TAB) this.#state = 'space after size'
    else throw bad('a chunk whose size is no number')
  }

  /** Trailers are skipped. */
  #takeTrailer(state: State, byte: number): void {
    this.#trailerBytes += 1
    if (this.#trailerBytes > MOST_HEAD_BYTES) throw bad('trailers that are too long')
    if (state === 'trailer') {
      if (byte === CR) this.#state = 'trailer, CR'
      else requireText(byte)
      return
    }
    if (byte !== LF) throw bad('a line of trailers that does not end')
    // Only the two bytes of its end.
    if (this.#lineBytes === 2) this.#end()
    else this.#expect('trailer')
  }

  #expect(state: State): void {
    this.#state = state
    this.#lineBytes = 0
  }

  #end(): void {
    this.#state = 'done'
    this.#receiver.onEnd()
  }
}

/** A server that speaks another protocol may never send the end of a head. */
function requireBeginning(bytes: Buffer): void {
  const length = Math.min(bytes.length, BEGINNING.length)
  if (bytes.compare(BEGINNING, 0, length, 0, length) !== 0) throw bad('something other than HTTP/1.1')
}

/** A server that ends lines with LF alone may never send the end that is waited for. */
function requireLines(head: Buffer, from: number): void {
  for (let at = head.indexOf(LF, from); at !== -1; at = head.indexOf(LF, at + 1)) {
    if (head[at - 1] !== CR) throw bad('a line that does not end with CR LF')
  }
}

/** A lone LF would end the line for others, and not for us. */
function requireText(byte: number): void {
  if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw bad('a line with a sign that no text has')
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function bad(what: string): HttpError {
  return new HttpError('BAD_RESPONSE', `There came ${what}.`)
}
