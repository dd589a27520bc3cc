import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import { errorFrame } from '../../wire/chat/frames.ts'
import { writeUsage } from '../../wire/money/usage-counts.ts'
import type { AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'
import { echoOf } from './echo.ts'
import { reasonOf, textHead, textLogprobs, wordsOf } from './text-choice.ts'

/** Turns parts into OpenAI's chunks of a text completion. A part without text, such as a thought, gets no chunk. */
export class TextFrames implements StreamWriter {
  readonly #head: AnswerHead
  readonly #fields: ReturnType<typeof textHead>
  readonly #begun = new Set<number>()

  constructor(head: AnswerHead) {
    this.#head = head
    this.#fields = textHead(head)
  }

  choice({ index, delta, logprobs, finishReason, fingerprint }: ChoicePart): string {
    const isFirst = !this.#begun.has(index)
    this.#begun.add(index)
    const text = (isFirst ? echoOf(this.#head.chat, index) : '') + wordsOf(delta)
    if (text === '' && finishReason === null) return ''
    const choice = { index, text, logprobs: textLogprobs(logprobs), finish_reason: reasonOf(finishReason) }
    return this.#frame([choice], null, fingerprint)
  }

  end({ bill, reported }: CountedUsage): string {
    return this.#head.chat.includeUsage ? this.#frame([], writeUsage(bill, reported)) : ''
  }

  error(error: GatewayError): string {
    return errorFrame(error)
  }

  #frame(choices: readonly object[], usage: object | null, fingerprint?: string): string {
    const chunk = {
      ...this.#fields,
      choices,
      ...(this.#head.chat.includeUsage && { usage }),
      ...(fingerprint && { system_fingerprint: fingerprint }),
    }
    return `data: ${JSON.stringify(chunk)}\n\n`
  }
}
