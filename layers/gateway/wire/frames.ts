import type { AnswerHead, CountedUsage, StreamWriter } from '../contracts/contract.ts'
import type { ChoicePart } from '../domain/chat.ts'
import type { GatewayError } from '../domain/gateway-error.ts'
import { formatCredits, type Nano } from '../domain/money.ts'
import { completionHead } from './completion.ts'
import { writeUsage } from './usage-counts.ts'

export const KEEP_ALIVE_FRAME = ': keep-alive\n\n'
export const DONE_FRAME = 'data: [DONE]\n\n'

/** Turns parts into OpenAI's chunks. Every choice's first chunk carries the role, whatever the upstream did. */
export class FrameWriter implements StreamWriter {
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
    return dataFrame(errorEnvelope(error))
  }
}

/** A header cannot carry a cost that is not known yet; every SSE client skips comments. */
export function costFrame(headerPrefix: string, cost: Nano): string {
  return `: ${headerPrefix.toLowerCase()}cost ${formatCredits(cost)}\n\n`
}

function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** OpenAI's shape of an error, in a frame or as a whole body. */
export function errorEnvelope({
  message,
  type,
  param,
  code,
}: Pick<GatewayError, 'message' | 'type' | 'param' | 'code'>) {
  return { error: { message, type, param, code } }
}
