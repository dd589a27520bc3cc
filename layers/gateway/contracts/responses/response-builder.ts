import type { ChoicePart } from '../../domain/chat/chat.ts'
import type { AnswerBuilder, AnswerHead, CountedUsage } from '../contract.ts'
import { Output } from './output.ts'
import { endedState, ResponseObject } from './response-object.ts'

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
