import type { ChoicePart } from '../../domain/chat/chat.ts'
import { CompletionBuilder } from '../completion-builder.ts'
import type { AnswerBuilder, AnswerHead, CountedUsage } from '../contract.ts'
import { echoOf } from './echo.ts'
import { reasonOf, textHead, textLogprobs, wordsOf } from './text-choice.ts'

type ChatChoice = {
  readonly index: number
  readonly message: Record<string, unknown>
  readonly logprobs: unknown
  readonly finish_reason: string
}

/** Gathers parts into the one JSON answer: a chat completion, told as text. */
export class TextBuilder implements AnswerBuilder {
  readonly #head: AnswerHead
  readonly #chat: CompletionBuilder

  constructor(head: AnswerHead) {
    this.#head = head
    this.#chat = new CompletionBuilder(head)
  }

  get chars(): number {
    return this.#chat.chars
  }

  add(part: ChoicePart): void {
    this.#chat.add(part)
  }

  cut(): void {
    this.#chat.cut()
  }

  build(usage: CountedUsage): object {
    const { choices, usage: counts, system_fingerprint: print } = this.#chat.build(usage)
    return {
      ...textHead(this.#head),
      choices: (choices as ChatChoice[]).map(({ index, message, logprobs, finish_reason: reason }) => ({
        index,
        text: echoOf(this.#head.chat, index) + wordsOf(message),
        logprobs: textLogprobs(logprobs),
        finish_reason: reasonOf(reason),
      })),
      usage: counts,
      ...(print !== undefined && { system_fingerprint: print }),
    }
  }
}
