import type { ChoicePart } from '../domain/chat/chat.ts'
import { isObject } from '../wire/basics/field-rules.ts'
import { MessageBuilder } from '../wire/chat/delta.ts'
import { writeUsage } from '../wire/money/usage-counts.ts'
import type { AnswerBuilder, AnswerHead, CountedUsage } from './contract.ts'

/** The completion's id is the request's, so that either finds the row. */
export function completionHead({ requestId, nowMs, model }: AnswerHead, object: string, prefix = 'chatcmpl-') {
  return { id: requestId.replace('req_', prefix), object, created: Math.floor(nowMs / 1000), model }
}

type Choice = {
  readonly index: number
  readonly message: MessageBuilder
  logprobs: Record<string, unknown> | null
  finishReason: string | null
}

export class CompletionBuilder implements AnswerBuilder {
  protected readonly head: AnswerHead
  readonly #choices = new Map<number, Choice>()
  #fingerprint: string | undefined
  chars = 0

  constructor(head: AnswerHead) {
    this.head = head
  }

  add(part: ChoicePart): void {
    this.chars += sizeOf(part)
    const choice = this.#choiceAt(part.index)
    choice.message.add(part.delta)
    choice.logprobs = mergeLogprobs(choice.logprobs, part.logprobs)
    choice.finishReason = part.finishReason ?? choice.finishReason
    this.#fingerprint ??= part.fingerprint
  }

  cut(): void {
    for (const choice of this.#choices.values()) choice.finishReason ??= 'length'
  }

  build({ bill, reported }: CountedUsage): Record<string, unknown> {
    const choices = [...this.#choices.values()].sort((a, b) => a.index - b.index)
    return {
      ...completionHead(this.head, 'chat.completion'),
      choices: choices.map(({ index, message, logprobs, finishReason }) => ({
        index,
        message: message.finish(),
        logprobs,
        finish_reason: finishReason ?? 'stop',
      })),
      usage: writeUsage(bill, reported),
      ...(bill.serviceTier && { service_tier: bill.serviceTier }),
      ...(this.#fingerprint && { system_fingerprint: this.#fingerprint }),
    }
  }

  #choiceAt(index: number): Choice {
    const existing = this.#choices.get(index)
    if (existing) return existing
    const choice: Choice = { index, message: new MessageBuilder(), logprobs: null, finishReason: null }
    this.#choices.set(index, choice)
    return choice
  }
}

function sizeOf({ delta, logprobs }: ChoicePart): number {
  let chars = isObject(logprobs) ? JSON.stringify(logprobs).length : 0
  for (const name in delta) {
    const value = delta[name]
    if (typeof value === 'string') chars += value.length
    else if (value !== null && value !== undefined) chars += JSON.stringify(value).length
  }
  return chars
}

function mergeLogprobs(soFar: Record<string, unknown> | null, more: unknown): Record<string, unknown> | null {
  if (!isObject(more)) return soFar
  const merged: Record<string, unknown> = soFar ?? Object.create(null)
  for (const [name, value] of Object.entries(more)) {
    const before = merged[name]
    if (Array.isArray(before) && Array.isArray(value)) for (const element of value) before.push(element)
    else merged[name] = Array.isArray(value) ? [...value] : (value ?? before ?? null)
  }
  return merged
}
