import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import { errorFrame } from '../../wire/chat/frames.ts'
import { writeUsage } from '../../wire/money/usage-counts.ts'
import { completionHead } from '../completion-builder.ts'
import type { AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'

/** Turns parts into OpenAI's chunks. Every choice's first chunk carries the role, even if the upstream sent none. */
export class ChunkWriter implements StreamWriter {
  /** The beginning and the end of every chunk, written once: they are most of its bytes. */
  readonly #start: string
  readonly #end: string
  readonly #includesUsage: boolean
  readonly #begun = new Set<number>()

  constructor(head: AnswerHead) {
    const { id, created, model } = completionHead(head)
    const fields = JSON.stringify({ id, object: 'chat.completion.chunk', created, model })
    this.#start = `data: ${fields.slice(0, -1)},"choices":[`
    this.#includesUsage = head.chat.includeUsage
    this.#end = this.#includesUsage ? '],"usage":null' : ']'
  }

  choice(part: ChoicePart): string {
    const isFirst = !this.#begun.has(part.index)
    if (isFirst) this.#begun.add(part.index)
    const choice = JSON.stringify({
      index: part.index,
      delta: isFirst ? { ...part.delta, role: 'assistant' } : part.delta,
      logprobs: part.logprobs ?? null,
      finish_reason: part.finishReason,
    })
    const print = part.fingerprint ? `,"system_fingerprint":${JSON.stringify(part.fingerprint)}` : ''
    return `${this.#start}${choice}${this.#end}${print}}\n\n`
  }

  end({ bill, reported }: CountedUsage): string {
    if (!this.#includesUsage) return ''
    return `${this.#start}],"usage":${JSON.stringify(writeUsage(bill, reported))}}\n\n`
  }

  error(error: GatewayError): string {
    return errorFrame(error)
  }
}
