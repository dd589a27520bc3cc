import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatPart, ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { messageToDelta, speaks } from '../../wire/chat/delta.ts'
import { finishReasonOf } from '../../wire/chat/stop-reasons.ts'
import { brokenOff } from '../conversation/answer-parts.ts'
import { errorInAnswer } from '../http/error-in-answer.ts'
import type { EventReader } from '../http/server-sent-events.ts'

export class OpenAiEvents implements EventReader {
  readonly #key: string | undefined
  readonly #open = new Set<number>()
  /** Only a choice with content is given the end it lacks: an empty answer is no answer. */
  readonly #said = new Set<number>()
  readonly #answer = new AnswerNormalizer()
  isWhole = false

  /** `key` is the provider's, which providers quote in their errors. */
  constructor(key: string | undefined) {
    this.#key = key
  }

  done(parts: ChatPart[]): void {
    this.isWhole = true
    for (const index of this.#open) if (this.#said.has(index)) parts.push(this.#answer.ending(index))
  }

  take(event: JsonObject, parts: ChatPart[]): void {
    if (Array.isArray(event.choices) && !event.error) {
      for (let position = 0; position < event.choices.length; position++) {
        const choice = event.choices[position]
        if (isObject(choice)) parts.push(this.#readChoice(choice, position, event))
      }
    }
    takeRest(event, parts, this.#key)
  }

  end(): void {
    if (this.#open.size > 0) throw brokenOff()
  }

  #readChoice(choice: JsonObject, position: number, event: JsonObject): ChatPart {
    const delta = isObject(choice.delta) ? choice.delta : textOf(choice)
    const part = this.#answer.normalize(choice, position, delta, event)
    if (part.finishReason === null) this.#open.add(part.index)
    else this.#open.delete(part.index)
    if (speaks(part.delta)) this.#said.add(part.index)
    return part
  }
}

export function readCompletion(completion: JsonObject, key: string | undefined): ChatPart[] {
  const answer = new AnswerNormalizer()
  const parts: ChatPart[] = []
  const { choices } = completion
  for (const [position, choice] of Array.isArray(choices) && !completion.error ? choices.entries() : []) {
    if (!isObject(choice)) continue
    const delta = isObject(choice.message) ? messageToDelta(choice.message) : textOf(choice)
    const part = answer.normalize(choice, position, delta, completion)
    parts.push(part)
    if (part.finishReason === null && speaks(part.delta)) parts.push(answer.ending(part.index))
  }
  takeRest(completion, parts, key)
  return parts
}

function textOf({ text }: JsonObject): JsonObject {
  return typeof text === 'string' ? { content: text } : {}
}

/** The fields beside the choices. An error may come with a usage, which is billed all the same. */
function takeRest({ usage, error, service_tier }: JsonObject, parts: ChatPart[], key: string | undefined): void {
  if (isObject(usage)) parts.push({ kind: 'usage', usage, serviceTier: service_tier })
  if (error) parts.push({ kind: 'fault', failure: errorInAnswer(error, key) })
}

/** Makes parts of choices, and adds fields that OpenAI's schema requires and upstreams leave out. */
class AnswerNormalizer {
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
      logprobs: isObject(choice.logprobs) ? { content: null, refusal: null, ...choice.logprobs } : null,
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
  #wholeDelta(choice: number, said: JsonObject): Delta {
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
    const fn = { arguments: '', ...(isObject(call.function) && call.function) }
    return { ...call, index, type: 'function', function: fn }
  }
}
