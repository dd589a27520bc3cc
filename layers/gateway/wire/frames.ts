import type { ChoicePart } from '../domain/chat.ts'
import type { GatewayError } from '../domain/gateway-error.ts'
import { formatCredits, type Nano } from '../domain/money.ts'
import type { CompletionHead } from './completion.ts'

export const KEEP_ALIVE_FRAME = ': keep-alive\n\n'
export const DONE_FRAME = 'data: [DONE]\n\n'

/** Turns parts into OpenAI's chunks. Every choice's first chunk carries the role, whatever the upstream did. */
export class FrameWriter {
  readonly #head: CompletionHead
  readonly #includeUsage: boolean
  readonly #begun = new Set<number>()

  constructor(head: CompletionHead, includeUsage: boolean) {
    this.#head = head
    this.#includeUsage = includeUsage
  }

  choice(part: ChoicePart): string {
    const isFirst = !this.#begun.has(part.index)
    if (isFirst) this.#begun.add(part.index)
    return this.#chunk(
      [
        {
          index: part.index,
          delta: isFirst ? { ...part.delta, role: 'assistant' } : part.delta,
          logprobs: part.logprobs ?? null,
          finish_reason: part.finishReason,
        },
      ],
      { ...(this.#includeUsage && { usage: null }), ...(part.fingerprint && { system_fingerprint: part.fingerprint }) },
    )
  }

  usage(usage: Record<string, unknown>): string {
    return this.#chunk([], { usage })
  }

  #chunk(choices: readonly unknown[], rest: Record<string, unknown>): string {
    const { id, created, model } = this.#head
    return dataFrame({ id, object: 'chat.completion.chunk', created, model, choices, ...rest })
  }
}

/** A header cannot carry a cost that is not known yet; every SSE client skips comments. */
export function costFrame(headerPrefix: string, cost: Nano): string {
  return `: ${headerPrefix.toLowerCase()}cost ${formatCredits(cost)}\n\n`
}

export function errorFrame(error: GatewayError): string {
  return dataFrame(errorEnvelope(error))
}

function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** OpenAI's shape of an error, in a frame or as a whole body. */
export function errorEnvelope({ message, type, param, code }: GatewayError) {
  return { error: { message, type, param, code } }
}
