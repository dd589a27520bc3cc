import type { ChatPart, ChoicePart, Delta } from '../../domain/chat.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { isObject } from '../../wire/field-rules.ts'
import { parseObject } from '../http/json-reply.ts'
import type { EventReader } from '../http/server-sent-events.ts'
import { type AnthropicCounts, mergeCounts, toUsage } from './anthropic-usage.ts'

type Fields = Record<string, unknown>
type Call = { readonly index: number; readonly input: Fields; hasArguments: boolean }

const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** A type is kept in the log, where no words belong that may quote the prompt. */
const ERROR_TYPE = /^[a-z_]{1,64}$/

/** Turns the events of one Message into parts. Events and blocks that it does not know are passed over. */
export class AnthropicEvents implements EventReader {
  /** The tool calls begun, by the position of their block. */
  readonly #calls = new Map<unknown, Call>()
  #counts: AnthropicCounts = {}
  #hasCounts = false
  #stopReason: unknown
  #stopDetails: unknown
  #hasSpoken = false
  #isWhole = false

  get isWhole(): boolean {
    return this.#isWhole
  }

  read(data: string, parts: ChatPart[]): void {
    this.take(parseObject(data), parts)
  }

  take(event: Fields, parts: ChatPart[]): void {
    switch (event.type) {
      case 'message_start':
        this.#counts = mergeCounts({}, fieldsOf(event.message).usage)
        return
      case 'content_block_start':
        this.#begin(event.index, fieldsOf(event.content_block), parts)
        return
      case 'content_block_delta':
        this.#continue(event.index, fieldsOf(event.delta), parts)
        return
      case 'message_delta':
        this.#noteEnding(fieldsOf(event.delta), event.usage)
        return
      case 'message_stop':
        this.#isWhole = true
        this.#finish(parts)
        return
      case 'error':
        throw errorOf(event)
    }
  }

  end(): void {
    throw new UpstreamFailure('reset', 'The upstream ended its answer in the middle.')
  }

  /** The counts of the start alone say nothing of what was generated, so they are not reported. */
  #noteEnding({ stop_reason, stop_details }: Fields, usage: unknown): void {
    this.#stopReason = stop_reason ?? this.#stopReason
    this.#stopDetails = stop_details ?? this.#stopDetails
    if (!isObject(usage)) return
    this.#counts = mergeCounts(this.#counts, usage)
    this.#hasCounts = true
  }

  #begin(position: unknown, block: Fields, parts: ChatPart[]): void {
    if (block.type === 'text') this.#say('content', block.text, parts)
    if (block.type === 'thinking') this.#say('reasoning_content', block.thinking, parts)
    if (block.type !== 'tool_use') return
    const index = this.#calls.size
    this.#calls.set(position, { index, input: fieldsOf(block.input), hasArguments: false })
    this.#hasSpoken = true
    const { id, name } = block
    parts.push(choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
  }

  #continue(position: unknown, delta: Fields, parts: ChatPart[]): void {
    if (delta.type === 'text_delta') this.#say('content', delta.text, parts)
    if (delta.type === 'thinking_delta') this.#say('reasoning_content', delta.thinking, parts)
    const call = this.#calls.get(position)
    if (delta.type !== 'input_json_delta' || !call || !isText(delta.partial_json)) return
    call.hasArguments = true
    parts.push(argumentsPiece(call, delta.partial_json))
  }

  #say(field: 'content' | 'reasoning_content', text: unknown, parts: ChatPart[]): void {
    if (!isText(text)) return
    this.#hasSpoken = true
    parts.push(choice({ [field]: text }))
  }

  #finish(parts: ChatPart[]): void {
    const finishReason = this.#finishReason()
    for (const call of this.#calls.values()) {
      // No arguments are `{}` to OpenAI's clients, unless the call was cut before they came.
      const isCut = finishReason === 'length' && Object.keys(call.input).length === 0
      if (!call.hasArguments && !isCut) parts.push(argumentsPiece(call, JSON.stringify(call.input)))
    }
    if (finishReason !== null) parts.push(choice(refusalText(this.#stopDetails), finishReason))
    if (this.#hasCounts) parts.push({ kind: 'usage', usage: toUsage(this.#counts) })
  }

  /** Silence without a reason is no answer. */
  #finishReason(): string | null {
    const reason = this.#stopReason
    if (typeof reason === 'string') return FINISH_REASONS.get(reason) ?? 'stop'
    if (!this.#hasSpoken) return null
    return this.#calls.size > 0 ? 'tool_calls' : 'stop'
  }
}

/** The parts of a Message that came whole. */
export function readMessage(message: Fields): ChatPart[] {
  const answer = new AnthropicEvents()
  const parts: ChatPart[] = []
  for (const event of eventsOf(message)) answer.take(event, parts)
  return parts
}

/** A whole Message in the form of its events. */
function* eventsOf(message: Fields): Generator<Fields, void, undefined> {
  if (message.type === 'error') yield message
  if (!Array.isArray(message.content))
    throw new UpstreamFailure('protocol', 'The upstream sent JSON that is no message.')
  for (const [index, block] of message.content.entries()) {
    yield { type: 'content_block_start', index, content_block: block }
  }
  const { stop_reason, stop_details, usage } = message
  yield { type: 'message_delta', delta: { stop_reason, stop_details }, usage }
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

function errorOf({ error }: Fields): UpstreamFailure {
  const { type } = fieldsOf(error)
  const kind = typeof type === 'string' && ERROR_TYPE.test(type) ? ` (${type})` : ''
  return new UpstreamFailure('error_event', `The upstream reported an error in place of an answer${kind}.`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}
