import { createParser, type EventSourceParser } from 'eventsource-parser'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatPart } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isAnswer } from '../../wire/chat/delta.ts'
import type { ChatCall } from '../provider.ts'
import { parseObject, tooDeep } from './json-reply.ts'
import type { Reply, ReplyBody } from './post.ts'

const MAX_EVENT_CHARS = 8 * 1024 * 1024

// Names, log probabilities, signatures and other data around a token take kilobytes, not more.
const BYTES_PER_TOKEN = 8 * 1024
const SPARE_BYTES = 8 * 1024 * 1024
/** The events of Responses repeat the instructions and tools of the request. */
const MOST_ECHOES = 8

export type EventReader = {
  /** True if the answer has ended, so that no more of it need be read. */
  readonly isWhole: boolean
  take(event: JsonObject, parts: ChatPart[]): void
  /** Called for the frame with which Chat Completions ends, also by some upstreams that speak another dialect. */
  done?(parts: ChatPart[]): void
  /** Called when the upstream has closed. Throws if the answer was not complete. */
  end(): void
}

/** Parts come in batches, one for each read, with no promise in between. An event, and all together, have bounds. */
export function readEvents({ body }: Reply, call: ChatCall, answer: EventReader): AsyncIterable<readonly ChatPart[]> {
  return { [Symbol.asyncIterator]: () => new EventBatches(body, call, answer) }
}

const END = { done: true, value: undefined } as const

/** Written by hand, because each part of a stream comes this way, and a generator makes three promises instead of one. */
class EventBatches implements AsyncIterator<readonly ChatPart[], undefined> {
  readonly #body: ReplyBody
  readonly #answer: EventReader
  readonly #decoder = new TextDecoder()
  readonly #parser: EventSourceParser
  #parts: ChatPart[] = []
  #budget: number
  #isFaulty = false
  #hasClosed = false
  #hasBegun = false
  #isOver = false

  constructor(body: ReplyBody, { chat, outputCap }: ChatCall, answer: EventReader) {
    this.#body = body
    this.#answer = answer
    this.#budget = outputCap * chat.choices * BYTES_PER_TOKEN + MOST_ECHOES * chat.bytes + SPARE_BYTES
    const onEvent = ({ data }: { readonly data: string }) => this.#take(data)
    this.#parser = createParser({ onEvent, maxBufferSize: MAX_EVENT_CHARS })
  }

  async next(): Promise<IteratorResult<readonly ChatPart[], undefined>> {
    if (this.#isOver) return END
    try {
      while (!this.#hasClosed && !this.#answer.isWhole) {
        this.#read(await this.#body.read())
        if (this.#parts.length === 0) continue
        if (!this.#hasBegun) this.#begin()
        return { done: false, value: this.#parts }
      }
    } catch (error) {
      this.#close()
      throw error
    }
    this.#close()
    return END
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#close()
    return END
  }

  /** The upstream has closed if there are no bytes; a last line without an end still counts. */
  #read(bytes: Buffer | undefined): void {
    this.#parts = []
    // All bytes count: comments and empty lines carry nothing, and could go on forever.
    this.#budget -= bytes?.length ?? 0
    try {
      this.#parser.feed(bytes ? this.#decoder.decode(bytes, { stream: true }) : `${this.#decoder.decode()}\n\n`)
    } catch (error) {
      // The parser goes on behind an event that is too long if it forgets what it has kept.
      this.#parser.reset()
      const message = `The upstream sent an event of more than ${MAX_EVENT_CHARS} characters.`
      this.#note(new UpstreamFailure('runaway', message, {}, { cause: error }))
    }
    if (this.#answer.isWhole) return
    this.#hasClosed = !bytes || this.#budget < 0
    if (this.#budget < 0) {
      this.#note(new UpstreamFailure('runaway', 'The upstream sent far more than the output limit it was given.'))
    } else if (!bytes) this.#end()
  }

  /** Before its first token an upstream may be reasoning, even if it sends other data. */
  #begin(): void {
    this.#hasBegun = this.#parts.some(isAnswer)
    if (this.#hasBegun) this.#body.startIdleClock()
  }

  #take(data: string): void {
    if (this.#answer.isWhole) return
    if (data === '[DONE]') {
      this.#answer.done?.(this.#parts)
      return
    }
    try {
      const { object, isCut } = parseObject(data)
      if (isCut) this.#note(tooDeep())
      this.#answer.take(object, this.#parts)
    } catch (error) {
      this.#note(error)
    }
  }

  #end(): void {
    try {
      this.#answer.end()
    } catch (error) {
      this.#note(error)
    }
  }

  /** The text before a fault counts as delivered, and the usage after it is still read. */
  #note(error: unknown): void {
    if (!(error instanceof UpstreamFailure)) throw error
    if (!this.#isFaulty) this.#parts.push({ kind: 'fault', failure: error })
    this.#isFaulty = true
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#body.close()
  }
}
