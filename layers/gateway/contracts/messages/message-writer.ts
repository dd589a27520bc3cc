import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import type { AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'
import { BlockEvents } from './block-events.ts'
import { emptyMessage, endingOf, type Finish, messageError, messageUsage, usageOfNone } from './message-head.ts'

export class MessageWriter implements StreamWriter {
  readonly #head: AnswerHead
  readonly #blocks: BlockEvents
  #hasBegun = false
  #finish: Finish | undefined

  constructor(head: AnswerHead) {
    this.#head = head
    this.#blocks = new BlockEvents(head.requestId.replace('req_', 'toolu_'))
  }

  choice(part: ChoicePart): string {
    const begin = this.#hasBegun ? '' : this.#begin()
    this.#hasBegun = true
    if (part.finishReason !== null) this.#finish = part
    return begin + this.#blocks.take(part).map(frame).join('')
  }

  end({ bill }: CountedUsage): string {
    const delta = { ...endingOf(this.#finish ?? { finishReason: 'stop' }, this.#blocks.hasCalls), container: null }
    return [
      ...this.#blocks.ending(),
      { type: 'message_delta', delta, usage: messageUsage(bill) },
      { type: 'message_stop' },
    ]
      .map(frame)
      .join('')
  }

  error(error: GatewayError): string {
    return frame({ type: 'error', ...messageError(error, this.#head.requestId) })
  }

  #begin(): string {
    const message = { ...emptyMessage(this.#head), usage: usageOfNone() }
    return frame({ type: 'message_start', message }) + frame({ type: 'ping' })
  }
}

function frame(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
