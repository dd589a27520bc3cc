import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'

type ResponseHead = { readonly statusCode: number; readonly headers?: Readonly<Record<string, string>> }

/**
 * The stream that a streaming function writes to. Like Lambda's, it goes on when the client has left: later writes are
 * dropped, and the function drains its upstream and settles as always.
 */
export class ResponseStream extends Writable {
  readonly #response: ServerResponse
  #hasWritten = false

  constructor(response: ServerResponse) {
    super()
    this.#response = response
  }

  begin({ statusCode, headers }: ResponseHead): void {
    if (!this.#response.destroyed) this.#response.writeHead(statusCode, headers)
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const response = this.#response
    if (response.destroyed) done()
    else if (chunk.length === 0) {
      // With the first words, if they come at once.
      setImmediate(() => {
        if (!this.#hasWritten) response.flushHeaders()
      })
      done()
    } else if (this.#send(chunk)) done()
    else afterDrainOrClose(response, done)
  }

  #send(chunk: Buffer): boolean {
    this.#hasWritten = true
    return this.#response.write(chunk)
  }

  override _final(done: () => void): void {
    this.#response.end()
    done()
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
