import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { AnswerEnding, ChatPart, ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { finishReasonOf } from '../../wire/chat/stop-reasons.ts'
import { mergeUsage, toOpenAiUsage } from '../../wire/money/usage-counts.ts'
import { statusOfError } from '../http/error-reply.ts'
import type { EventReader } from '../http/server-sent-events.ts'

type Call = { readonly index: number; hasArguments: boolean }

/** The format of thoughts that only Claude can read again. */
const FORMAT = 'anthropic-claude-v1'

/** A type is kept in the log, which must have no text that may quote the prompt. */
const ERROR_TYPE = /^[a-z_]{1,64}$/

/** Turns the events of one Message into parts. Unknown events and blocks are skipped. */
export class AnthropicEvents implements EventReader {
  /** The tool calls begun, by the position of their block. */
  readonly #calls = new Map<unknown, Call>()
  #usage: unknown
  #stopReason: unknown
  #stopSequence: unknown
  #stopDetails: unknown
  #hasSpoken = false
  #isWhole = false
  readonly #isNative: boolean

  /** `isNative`: the caller speaks this dialect, too. */
  constructor(isNative: boolean) {
    this.#isNative = isNative
  }

  get isWhole(): boolean {
    return this.#isWhole
  }

  take(event: JsonObject, parts: ChatPart[]): void {
    switch (event.type) {
      case 'message_start':
        this.#noteStart(fieldsOf(fieldsOf(event.message).usage))
        return
      case 'content_block_start':
        this.#begin(event.index, fieldsOf(event.content_block), parts)
        return
      case 'content_block_delta':
        this.#continue(event.index, fieldsOf(event.delta), parts)
        return
      case 'message_delta':
        this.#noteEnding(fieldsOf(event.delta), event.usage, parts)
        return
      case 'message_stop':
        this.#isWhole = true
        this.#finish(parts)
        return
      case 'error':
        parts.push({ kind: 'fault', failure: errorOf(event) })
    }
  }

  end(): void {
    throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
  }

  /** At the start nothing is generated yet. */
  #noteStart({ output_tokens: _, ...usage }: JsonObject): void {
    this.#usage = usage
  }

  #noteEnding({ stop_reason, stop_sequence, stop_details }: JsonObject, usage: unknown, parts: ChatPart[]): void {
    this.#stopReason = stop_reason ?? this.#stopReason
    this.#stopSequence = stop_sequence ?? this.#stopSequence
    this.#stopDetails = stop_details ?? this.#stopDetails
    if (!isObject(usage)) return
    this.#usage = mergeUsage(this.#usage, usage)
    this.#report(parts)
  }

  /** At once, because the stream may break off: the counts at the start with the first word, the others as they come. */
  #report(parts: ChatPart[]): void {
    if (isObject(this.#usage))
      parts.push({ kind: 'usage', usage: toOpenAiUsage(this.#usage, true), serviceTier: this.#usage.service_tier })
  }

  #speak(part: ChoicePart, parts: ChatPart[]): void {
    if (!this.#hasSpoken) this.#report(parts)
    this.#hasSpoken = true
    parts.push(part)
  }

  #begin(position: unknown, block: JsonObject, parts: ChatPart[]): void {
    if (block.type === 'text') this.#say('content', block.text, parts)
    if (block.type === 'thinking') {
      this.#say('reasoning_content', block.thinking, parts)
      this.#sign(position, block.signature, parts)
    }
    if (block.type === 'redacted_thinking') this.#redact(position, block.data, parts)
    if (Array.isArray(block.citations)) for (const citation of block.citations) this.#cite(citation, parts)
    if (block.type !== 'tool_use') return
    const index = this.#calls.size
    const input = fieldsOf(block.input)
    // A message that came whole has the complete input here.
    const hasArguments = Object.keys(input).length > 0
    const call = { index, hasArguments }
    this.#calls.set(position, call)
    const { id, name } = block
    this.#speak(choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }), parts)
    if (hasArguments) parts.push(argumentsPiece(call, JSON.stringify(input)))
  }

  #continue(position: unknown, delta: JsonObject, parts: ChatPart[]): void {
    if (delta.type === 'text_delta') this.#say('content', delta.text, parts)
    if (delta.type === 'thinking_delta') this.#say('reasoning_content', delta.thinking, parts)
    if (delta.type === 'signature_delta') this.#sign(position, delta.signature, parts)
    if (delta.type === 'citations_delta') this.#cite(delta.citation, parts)
    const call = this.#calls.get(position)
    if (delta.type !== 'input_json_delta' || !call || !isText(delta.partial_json)) return
    call.hasArguments = true
    parts.push(argumentsPiece(call, delta.partial_json))
  }

  #say(field: 'content' | 'reasoning_content', text: unknown, parts: ChatPart[]): void {
    if (!isText(text)) return
    this.#speak(choice({ [field]: text }), parts)
  }

  #sign(index: unknown, signature: unknown, parts: ChatPart[]): void {
    if (!isText(signature)) return
    parts.push(choice({ reasoning_details: [{ type: 'reasoning.text', signature, format: FORMAT, index }] }))
  }

  #redact(index: unknown, data: unknown, parts: ChatPart[]): void {
    if (!isText(data)) return
    this.#speak(choice({ reasoning_details: [{ type: 'reasoning.encrypted', data, format: FORMAT, index }] }), parts)
  }

  /** Only for native callers: Chat Completions does not support citations. */
  #cite(citation: unknown, parts: ChatPart[]): void {
    if (this.#isNative && isObject(citation)) parts.push(choice({ citations: [citation] }))
  }

  #finish(parts: ChatPart[]): void {
    const end = this.#finishReason()
    for (const call of this.#calls.values()) {
      // Empty arguments are `{}` for OpenAI's clients, unless the call was cut before they came.
      if (!call.hasArguments && end?.finishReason !== 'length') parts.push(argumentsPiece(call, '{}'))
    }
    if (end) parts.push({ ...choice(refusalText(this.#stopDetails)), ...end, ...this.#ending() })
  }

  #ending(): { ending?: AnswerEnding } {
    const [reason, sequence] = [this.#stopReason, this.#stopSequence]
    if (!this.#isNative || typeof reason !== 'string') return {}
    return { ending: { reason, sequence: isText(sequence) ? sequence : null, details: this.#stopDetails } }
  }

  /** An empty answer without a reason is no answer. */
  #finishReason() {
    const reason = this.#stopReason
    if (typeof reason === 'string') return finishReasonOf(reason)
    if (!this.#hasSpoken) return undefined
    return { finishReason: this.#calls.size > 0 ? 'tool_calls' : 'stop' }
  }
}

/** The parts of a Message that came whole. */
export function readMessage(message: JsonObject, isNative: boolean): ChatPart[] {
  const answer = new AnthropicEvents(isNative)
  const parts: ChatPart[] = []
  for (const event of eventsOf(message)) answer.take(event, parts)
  return parts
}

/** A whole Message in the form of its events. */
function* eventsOf(message: JsonObject): Generator<JsonObject, void, undefined> {
  const { content, stop_reason, stop_sequence, stop_details, usage } = message
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details }, usage }
  if (message.type === 'error') yield message
  for (const [index, block] of Array.isArray(content) ? content.entries() : []) {
    yield { type: 'content_block_start', index, content_block: block }
  }
  yield { type: 'message_stop' }
}

function choice(delta: Delta, finishReason: string | null = null): ChoicePart {
  return { kind: 'choice', index: 0, delta, logprobs: null, finishReason }
}

function argumentsPiece({ index }: Call, piece: string): ChoicePart {
  return choice({ tool_calls: [{ index, function: { arguments: piece } }] })
}

function refusalText(details: unknown): Delta {
  const explanation = fieldsOf(details).explanation
  return isText(explanation) ? { refusal: explanation } : {}
}

function errorOf({ error }: JsonObject): UpstreamFailure {
  const { type } = fieldsOf(error)
  const kind = typeof type === 'string' && ERROR_TYPE.test(type) ? ` (${type})` : ''
  const message = `The upstream reported an error in place of an answer${kind}.`
  return new UpstreamFailure('error_event', message, { status: statusOfError(error) })
}

function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
