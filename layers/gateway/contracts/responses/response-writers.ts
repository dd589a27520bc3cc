import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import type { AnswerBuilder, AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'
import { Output } from './output.ts'
import { inOwnWords } from './own-words.ts'
import { endedState, ResponseObject, shownError } from './response-object.ts'

export class ResponseBuilder implements AnswerBuilder {
  readonly #response: ResponseObject
  readonly #output: Output

  constructor(head: AnswerHead) {
    this.#response = new ResponseObject(head)
    this.#output = new Output(head, () => {})
  }

  get chars(): number {
    return this.#output.chars
  }

  add(part: ChoicePart): void {
    this.#output.add(part)
  }

  cut(): void {
    this.#output.end('max_output_tokens')
  }

  build(usage: CountedUsage): object {
    this.#output.end('completed')
    return this.#response.show(endedState(this.#output, usage))
  }
}

/** The events at the end repeat the whole text, so all of it is kept. No model writes that much. */
const MOST_KEPT_CHARS = 8 * 1024 * 1024

export class ResponseStream implements StreamWriter {
  readonly #response: ResponseObject
  readonly #output: Output
  #frames = ''
  #next = 0
  #closing: string | undefined

  constructor(head: AnswerHead) {
    this.#response = new ResponseObject(head)
    this.#output = new Output(head, (type, fields) => this.#emit(type, fields))
  }

  choice(part: ChoicePart): string {
    this.#begin()
    this.#output.add(part)
    if (this.#output.chars > MOST_KEPT_CHARS) {
      throw new UpstreamFailure('runaway', `The upstream sent more than ${MOST_KEPT_CHARS} characters.`)
    }
    return this.#take()
  }

  /** May be called again with another cost. */
  end(usage: CountedUsage): string {
    this.#closing ??= this.#close()
    const state = endedState(this.#output, usage)
    return this.#closing + frame(`response.${state.status}`, this.#next, { response: this.#response.show(state) })
  }

  /** Some clients look for the one event, some for the other. */
  error(error: GatewayError): string {
    this.#begin()
    const { kind, message, type, param, code } = inOwnWords(error)
    this.#emit('error', { code, message, param, error: { type, code, message, param } })
    const failed = { status: 'failed', output: this.#output.shown, error: shownError(kind, message) } as const
    this.#emit('response.failed', { response: this.#response.show(failed) })
    return this.#take()
  }

  #begin(): void {
    if (this.#next > 0) return
    const response = this.#response.show({ status: 'in_progress', output: [] })
    this.#emit('response.created', { response })
    this.#emit('response.in_progress', { response })
  }

  #close(): string {
    this.#begin()
    this.#output.end('completed')
    return this.#take()
  }

  #emit(type: string, fields: JsonObject): void {
    this.#frames += frame(type, this.#next, fields)
    this.#next += 1
  }

  #take(): string {
    const frames = this.#frames
    this.#frames = ''
    return frames
  }
}

function frame(type: string, sequence_number: number, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`
}
