import type { IncomingMessage } from 'node:http'

const HTTP_ANSWER = 'application/vnd.awslambda.http-integration-response'
const DELIMITER = Buffer.alloc(8)

/** The bytes that a function sends to Lambda, as they arrive. */
export class LambdaAnswer {
  readonly isStreaming: boolean
  readonly contentType: string | undefined
  /** Resolves with the last byte, before Lambda has acknowledged it. */
  readonly ended: Promise<void>
  /** Joined when they are looked at: a large answer would be copied again and again. */
  #chunks: Buffer[] = []
  #isEnded = false
  #arrived = Promise.withResolvers<void>()

  private constructor(request: IncomingMessage) {
    this.isStreaming = request.headers['lambda-runtime-function-response-mode'] === 'streaming'
    this.contentType = request.headers['content-type']
    this.ended = this.#readAll(request)
  }

  /** Hands the answer over with its first byte, and resolves when it has been read to its end. */
  static async receive(request: IncomingMessage, handOver: (answer: LambdaAnswer) => void): Promise<void> {
    const answer = new LambdaAnswer(request)
    await answer.#arrived.promise
    handOver(answer)
    await answer.ended
  }

  async #readAll(request: IncomingMessage): Promise<void> {
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        this.#chunks.push(chunk)
        this.#tell()
      }
      const failure = request.trailers['lambda-runtime-function-error-type']
      if (failure) throw new Error(`The stream failed with ${failure}.`)
    } finally {
      this.#isEnded = true
      this.#tell()
    }
  }

  get #bytes(): Buffer {
    const joined = Buffer.concat(this.#chunks)
    this.#chunks = [joined]
    return joined
  }

  #tell(): void {
    this.#arrived.resolve()
    this.#arrived = Promise.withResolvers()
  }

  /** The body so far, once it contains these words or has ended. */
  async bodyWith(words: string): Promise<string> {
    await this.#until(() => this.body.includes(words))
    return this.body
  }

  /** Resolves when so many bytes of the body are there, or it has ended. */
  bodyBytes(count: number): Promise<void> {
    return this.#until(() => this.#bodyFrom().length >= count)
  }

  async #until(isEnough: () => boolean): Promise<void> {
    while (!this.#isEnded && !isEnough()) await this.#arrived.promise
  }

  async whole(): Promise<{ statusCode: number; headers: Record<string, string>; body: string }> {
    await this.ended
    return { ...this.#prelude(), body: this.body }
  }

  /** The body so far, after the prelude. */
  get body(): string {
    return this.#bodyFrom().toString()
  }

  #bodyFrom(): Buffer {
    if (this.contentType !== HTTP_ANSWER) return this.#bytes
    const at = this.#bytes.indexOf(DELIMITER)
    return at < 0 ? Buffer.alloc(0) : this.#bytes.subarray(at + DELIMITER.length)
  }

  #prelude(): { statusCode: number; headers: Record<string, string> } {
    const at = this.#bytes.indexOf(DELIMITER)
    if (this.contentType !== HTTP_ANSWER || at < 0) throw new Error('The answer has no prelude.')
    return JSON.parse(this.#bytes.subarray(0, at).toString())
  }
}
