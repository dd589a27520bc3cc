import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { finishReasonOf } from '../../wire/chat/stop-reasons.ts'

type Fields = Record<string, unknown>

/** Makes parts of choices, and adds fields that OpenAI's schema requires and upstreams leave out. */
export class AnswerNormalizer {
  /** The indexes of the tool calls begun, by choice. */
  readonly #calls = new Map<number, Set<number>>()

  /** `event` is the chunk or the completion that the choice was in. */
  normalize(choice: JsonObject, position: number, said: JsonObject, event: JsonObject): ChoicePart {
    const index = Number.isSafeInteger(choice.index) ? (choice.index as number) : position
    const reason = choice.finish_reason
    const fingerprint = event.system_fingerprint
    return {
      kind: 'choice',
      index,
      delta: this.#wholeDelta(index, said),
      logprobs: wholeLogprobs(choice.logprobs),
      finishReason: null,
      ...(isText(reason) && finishReasonOf(reason)),
      fingerprint: typeof fingerprint === 'string' ? fingerprint : undefined,
      serviceTier: event.service_tier,
    }
  }

  ending(index: number): ChoicePart {
    const finishReason = this.#calls.has(index) ? 'tool_calls' : 'stop'
    return { kind: 'choice', index, delta: {}, logprobs: null, finishReason }
  }

  /** The role is written at the start of a choice; upstreams repeat it, empty or null. */
  #wholeDelta(choice: number, said: Fields): Delta {
    if (!('role' in said) && !Array.isArray(said.tool_calls)) return said
    const { role: _, ...delta } = said
    if (!Array.isArray(delta.tool_calls)) return delta
    return { ...delta, tool_calls: delta.tool_calls.filter(isObject).map((call) => this.#wholeCall(choice, call)) }
  }

  #wholeCall(choice: number, call: JsonObject): JsonObject {
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
