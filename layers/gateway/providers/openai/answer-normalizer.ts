import type { ChatPart, ChoicePart, Delta } from '../../domain/chat.ts'
import { isObject } from '../../wire/field-rules.ts'

type Call = Record<string, unknown>

/** Adds what OpenAI's schema requires and upstreams leave out. */
export class AnswerNormalizer {
  /** The indexes of the tool calls begun, by choice. */
  readonly #calls = new Map<number, Set<number>>()

  normalize(part: ChatPart): ChatPart {
    if (part.kind !== 'choice') return part
    // The role is written where a choice begins; upstreams repeat it, empty or null.
    const { role: _, ...delta } = part.delta
    return { ...part, delta: this.#withWholeCalls(part.index, delta), logprobs: wholeLogprobs(part.logprobs) }
  }

  ending(index: number): ChoicePart {
    const finishReason = this.#calls.has(index) ? 'tool_calls' : 'stop'
    return { kind: 'choice', index, delta: {}, logprobs: null, finishReason }
  }

  #withWholeCalls(choice: number, delta: Delta): Delta {
    if (!Array.isArray(delta.tool_calls)) return delta
    return { ...delta, tool_calls: delta.tool_calls.filter(isObject).map((call) => this.#wholeCall(choice, call)) }
  }

  #wholeCall(choice: number, call: Call): Call {
    const begun = this.#calls.get(choice) ?? new Set<number>()
    this.#calls.set(choice, begun)
    const next = call.id ? begun.size : Math.max(0, begun.size - 1)
    const index = Number.isSafeInteger(call.index) ? (call.index as number) : next
    if (begun.has(index)) return { ...call, index }
    begun.add(index)
    if (isObject(call.custom)) return { ...call, index, type: 'custom', custom: { input: '', ...call.custom } }
    return {
      ...call,
      index,
      type: 'function',
      function: { arguments: '', ...(isObject(call.function) && call.function) },
    }
  }
}

function wholeLogprobs(logprobs: unknown): unknown {
  return isObject(logprobs) ? { content: null, refusal: null, ...logprobs } : null
}
