import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'

type ResponseHead = { readonly statusCode: number; readonly headers?: Readonly<Record<string, string>> }

/** Like Lambda's, it goes on when the client has left: the function drains its upstream and settles as always. */
export class ResponseStream extends Writable {
  #response: ServerResponse | undefined

  constructor(response: ServerResponse) {
    super({ decodeStrings: false })
    this.#response = response
  }

  begin({ statusCode, headers }: ResponseHead): void {
    this.#response?.writeHead(statusCode, headers).flushHeaders()
  }

  override _write(chunk: string | Buffer, _: BufferEncoding, done: () => void): void {
    const response = this.#response
    if (!response || response.destroyed || response.write(chunk)) done()
    else afterDrainOrClose(response, done)
  }

  override _final(done: () => void): void {
    this.#response?.end()
    // V8 keeps a stream longer than it lives, and with it all that the stream refers to.
    this.#response = undefined
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
