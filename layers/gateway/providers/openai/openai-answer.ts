import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatPart } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { messageToDelta, speaks } from '../../wire/chat/delta.ts'
import { errorInAnswer } from '../http/error-reply.ts'
import type { EventReader } from '../http/server-sent-events.ts'
import { AnswerNormalizer } from './answer-normalizer.ts'

/** The events of a streamed chat completion. */
export class OpenAiEvents implements EventReader {
  readonly #key: string | undefined
  readonly #open = new Set<number>()
  /** Only a choice with content is given the end it lacks: an empty answer is no answer. */
  readonly #said = new Set<number>()
  readonly #answer = new AnswerNormalizer()
  #isWhole = false

  /** `key` is the provider's, which providers quote in their errors. */
  constructor(key: string | undefined) {
    this.#key = key
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  done(parts: ChatPart[]): void {
    this.#isWhole = true
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
    if (this.#open.size > 0) throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
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

/** The parts of a chat completion that came whole. */
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

/** A text completion has its text beside the index. */
function textOf({ text }: JsonObject): JsonObject {
  return typeof text === 'string' ? { content: text } : {}
}

/** The fields beside the choices. An error may come with a usage, which is billed all the same. */
function takeRest(
  { usage, error, service_tier: serviceTier }: JsonObject,
  parts: ChatPart[],
  key: string | undefined,
): void {
  if (isObject(usage)) parts.push({ kind: 'usage', usage, serviceTier })
  if (error) parts.push({ kind: 'fault', failure: errorInAnswer(error, key) })
}
