import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { AnswerEnding, ChatPart, ChoicePart } from '../../domain/chat/chat.ts'
import { CALLS } from '../../domain/money/price-kinds.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { isObject, isText, textIn } from '../../wire/basics/field-rules.ts'
import { NATIVE_BLOCKS } from '../../wire/chat/native-items.ts'
import { finishReasonOf } from '../../wire/chat/stop-reasons.ts'
import { CALL_COUNTS, mergeUsage, toOpenAiUsage, withCalls } from '../../wire/money/usage-counts.ts'
import { brokenOff, choiceOf, fieldsOf, redactedThought, signature, ToolCalls } from '../conversation/answer-parts.ts'
import { statusOfError } from '../http/error-in-answer.ts'
import type { EventReader } from '../http/server-sent-events.ts'

/** A type is kept in the log, which must have no text that may quote the prompt. */
const ERROR_TYPE = /^[a-z_]{1,64}$/

const STOP_FIELDS = ['stop_reason', 'stop_sequence', 'stop_details', 'context_management'] as const

const SERVED: ReadonlySet<string> = new Set(CALLS.map(({ calls }) => calls))

export class AnthropicEvents implements EventReader {
  readonly #isNative: boolean
  readonly #calls: ToolCalls
  /** The places of open blocks that only the Messages API has: their events are carried unchanged. */
  readonly #native = new Set<unknown>()
  readonly #stop: { [Name in (typeof STOP_FIELDS)[number]]?: unknown } = {}
  /** The calls of tools that Anthropic ran, by the names of their counts, as long as it has not counted them itself. */
  readonly #served = new Map<string, number>()
  #isCounted = false
  #usage: unknown
  #hasSpoken = false
  isWhole = false

  /** `isNative`: the caller uses the Messages API, too. `custom`: the names of its custom tools. */
  constructor(isNative: boolean, custom: ReadonlySet<unknown>) {
    this.#isNative = isNative
    this.#calls = new ToolCalls(custom)
  }

  take(event: JsonObject, parts: ChatPart[]): void {
    const { type, index, message, content_block: block, delta, usage, error } = event
    if (type === 'content_block_start') this.#noteServed(fieldsOf(block), parts)
    if (this.#isNative && type === 'content_block_start' && NATIVE_BLOCKS.has(fieldsOf(block).type))
      this.#native.add(index)
    if (this.#native.has(index)) this.#carry(event, parts)
    else if (type === 'message_start') this.#noteStart(fieldsOf(fieldsOf(message).usage))
    else if (type === 'content_block_start') this.#begin(index, fieldsOf(block), parts)
    else if (type === 'content_block_delta') this.#continue(index, fieldsOf(delta), parts)
    else if (type === 'message_delta') this.#noteEnding({ ...event, ...fieldsOf(delta) }, usage, parts)
    else if (type === 'message_stop') this.#finish(parts)
    else if (type === 'error') parts.push({ kind: 'fault', failure: failureOf(error) })
  }

  end(): void {
    throw brokenOff()
  }

  /** At the start nothing is generated yet. */
  #noteStart({ output_tokens: _, ...usage }: JsonObject): void {
    this.#usage = usage
  }

  #noteEnding(delta: JsonObject, usage: unknown, parts: ChatPart[]): void {
    for (const name of STOP_FIELDS) this.#stop[name] = delta[name] ?? this.#stop[name]
    if (!isObject(usage)) return
    this.#usage = mergeUsage(this.#usage, usage)
    this.#isCounted ||= isObject(usage[CALL_COUNTS])
    if (this.#isCounted) this.#served.clear()
    this.#report(parts)
  }

  /** At once, because the stream may break off: the counts at the start with the first word, the others as they come. */
  #report(parts: ChatPart[]): void {
    if (!isObject(this.#usage)) return
    const { speed, service_tier: tier } = this.#usage
    const usage = withCalls(toOpenAiUsage(this.#usage, true), this.#served)
    parts.push({ kind: 'usage', usage, serviceTier: speed === 'fast' ? speed : tier })
  }

  #carry(event: JsonObject, parts: ChatPart[]): void {
    const { type, index, delta } = event
    if (type === 'content_block_stop') this.#native.delete(index)
    const { partial_json: json, content } = fieldsOf(delta)
    this.#speak(choiceOf({ native: { event, said: textIn(json) + textIn(content) } }), parts)
  }

  #speak(part: ChoicePart, parts: ChatPart[]): void {
    if (!this.#hasSpoken) this.#report(parts)
    this.#hasSpoken = true
    parts.push(part)
  }

  #begin(position: unknown, block: JsonObject, parts: ChatPart[]): void {
    const { type, text, thinking, data, citations, id, name } = block
    if (type === 'text') this.#say('content', text, parts)
    if (type === 'thinking') {
      this.#say('reasoning_content', thinking, parts)
      this.#sign(position, block.signature, parts)
    }
    if (type === 'redacted_thinking' && isText(data)) this.#speak(redactedThought(data, position), parts)
    if (Array.isArray(citations)) for (const citation of citations) this.#cite(citation, parts)
    if (type !== 'tool_use') return
    const { caller, toolset_name } = block
    const native = this.#isNative && (caller ?? toolset_name) !== undefined && { caller, toolset_name }
    this.#speak(this.#calls.begin(position, id, name, native || undefined), parts)
    // A message that came whole has the complete input here.
    const input = fieldsOf(block.input)
    if (Object.keys(input).length > 0) parts.push(...this.#calls.add(position, JSON.stringify(input)))
  }

  /** Told at once: a stream may break off before its usage. */
  #noteServed({ type, name }: JsonObject, parts: ChatPart[]): void {
    const count = `${name}_requests`
    if (type !== 'server_tool_use' || this.#isCounted || !SERVED.has(count)) return
    this.#served.set(count, (this.#served.get(count) ?? 0) + 1)
    this.#usage ??= {}
    this.#report(parts)
  }

  #continue(position: unknown, delta: JsonObject, parts: ChatPart[]): void {
    const { type, text, thinking, citation, partial_json: json } = delta
    if (type === 'text_delta') this.#say('content', text, parts)
    if (type === 'thinking_delta') this.#say('reasoning_content', thinking, parts)
    if (type === 'signature_delta') this.#sign(position, delta.signature, parts)
    if (type === 'citations_delta') this.#cite(citation, parts)
    if (type === 'input_json_delta' && isText(json)) parts.push(...this.#calls.add(position, json))
  }

  #say(field: 'content' | 'reasoning_content', text: unknown, parts: ChatPart[]): void {
    if (isText(text)) this.#speak(choiceOf({ [field]: text }), parts)
  }

  #sign(position: unknown, text: unknown, parts: ChatPart[]): void {
    if (isText(text)) parts.push(signature(text, position))
  }

  /** Only for native callers: Chat Completions does not support citations. */
  #cite(citation: unknown, parts: ChatPart[]): void {
    if (this.#isNative && isObject(citation)) parts.push(choiceOf({ citations: [citation] }))
  }

  #finish(parts: ChatPart[]): void {
    this.isWhole = true
    const end = this.#finishReason()
    // A call that was cut before its arguments came has none.
    if (end?.finishReason !== 'length') for (const block of this.#calls.blocks) parts.push(...this.#calls.end(block))
    const { explanation } = fieldsOf(this.#stop.stop_details)
    const delta = isText(explanation) ? { refusal: explanation } : {}
    if (end) parts.push({ ...choiceOf(delta), ...end, ...this.#ending() })
  }

  #ending(): { ending?: AnswerEnding } {
    const { stop_reason: reason, stop_sequence: sequence, stop_details: details, context_management } = this.#stop
    if (!this.#isNative || typeof reason !== 'string') return {}
    const contextManagement = isObject(context_management) ? context_management : undefined
    return { ending: { reason, sequence: isText(sequence) ? sequence : null, details, contextManagement } }
  }

  /** An empty answer without a reason is no answer. */
  #finishReason() {
    const { stop_reason: reason } = this.#stop
    if (typeof reason === 'string') return finishReasonOf(reason)
    if (!this.#hasSpoken) return undefined
    return { finishReason: this.#calls.isEmpty ? 'stop' : 'tool_calls' }
  }
}

export function readMessage(message: JsonObject, isNative: boolean, custom: ReadonlySet<unknown>): ChatPart[] {
  const answer = new AnthropicEvents(isNative, custom)
  const parts: ChatPart[] = []
  for (const event of eventsOf(message)) answer.take(event, parts)
  return parts
}

function* eventsOf(message: JsonObject): Generator<JsonObject, void, undefined> {
  const { content, usage } = message
  yield { type: 'message_delta', delta: message, usage }
  if (message.type === 'error') yield message
  for (const [index, block] of Array.isArray(content) ? content.entries() : []) {
    yield { type: 'content_block_start', index, content_block: block }
    yield { type: 'content_block_stop', index }
  }
  yield { type: 'message_stop' }
}

function failureOf(error: unknown): UpstreamFailure {
  const { type } = fieldsOf(error)
  const kind = typeof type === 'string' && ERROR_TYPE.test(type) ? ` (${type})` : ''
  const message = `The upstream reported an error in place of an answer${kind}.`
  return new UpstreamFailure('error_event', message, { status: statusOfError(error) })
}
