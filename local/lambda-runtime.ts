import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'

type ResponseHead = { readonly statusCode: number; readonly headers?: Readonly<Record<string, string>> }

/** Like Lambda's, it goes on when the client has left: the function drains its upstream and settles as always. */
export class ResponseStream extends Writable {
  #response: ServerResponse | undefined
  #head: ResponseHead | undefined
  /** The first piece of the answer. An answer of one piece goes out at once, with its length. */
  #first: string | Buffer | undefined
  #isFlushing = false

  constructor(response: ServerResponse) {
    super({ decodeStrings: false })
    this.#response = response
  }

  begin(head: ResponseHead): void {
    this.#head = head
  }

  override _write(chunk: string | Buffer, _: BufferEncoding, done: () => void): void {
    const response = this.#response
    if (this.#head && this.#first === undefined) {
      if (chunk.length > 0) this.#first = chunk
      this.#flushSoon()
      done()
      return
    }
    this.#flush()
    if (!response || response.destroyed || response.write(chunk)) done()
    else afterDrainOrClose(response, done)
  }

  override _final(done: () => void): void {
    const response = this.#response
    if (this.#head && this.#first !== undefined && !response?.destroyed) {
      const { statusCode, headers } = this.#head
      const length = { 'Content-Length': String(Buffer.byteLength(this.#first)) }
      response?.writeHead(statusCode, { ...headers, ...length }).end(this.#first)
    } else {
      this.#flush()
      response?.end()
    }
    // V8 keeps a stream longer than it lives, and with it all that the stream refers to.
    this.#head = undefined
    this.#first = undefined
    this.#response = undefined
    done()
  }

  /** After the writer's turn: it may end the answer in the same turn. */
  #flushSoon(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    process.nextTick(() => {
      if (!this.#head) return
      if (this.#first === undefined) setImmediate(() => this.#flush())
      else this.#flush()
    })
  }

  #flush(): void {
    const response = this.#response
    if (!this.#head || !response || response.destroyed) return
    const { statusCode, headers } = this.#head
    this.#head = undefined
    response.writeHead(statusCode, headers)
    if (this.#first === undefined) response.flushHeaders()
    else response.write(this.#first)
  }
}

function afterDrainOrClose(response: ServerResponse, done: () => void): void {
  const proceed = () => {
    response.off('drain', proceed)
    response.off('close', proceed)
    done()
  }
  response.once('drain', proceed)
  response.once('close', proceed)
}

/** The global that Lambda's runtime gives to streaming functions, as far as Middy uses it. */
export function installLambdaGlobal(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: <T>(handler: T) => handler,
      HttpResponseStream: {
        from: (stream: ResponseStream, head: ResponseHead) => {
          stream.begin(head)
          return stream
        },
      },
    },
  })
}
