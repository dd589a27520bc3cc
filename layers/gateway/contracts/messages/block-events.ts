import { type JsonObject, parseJson } from '../../domain/basics/json-object.ts'
import type { ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { copied, isObject, textIn } from '../../wire/basics/field-rules.ts'

export type BlockEvent =
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: JsonObject }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: JsonObject }
  | { readonly type: 'content_block_stop'; readonly index: number }

type OpenBlock = { readonly index: number; readonly kind: 'text' | 'thinking'; isSigned?: boolean }
/** A call of a toolset's function has its member among its arguments, so it is kept until they are complete. */
type Call = { index: number; json: string; readonly id: string; readonly toolset: string | undefined }

const EMPTY = {
  text: { type: 'text', text: '', citations: null },
  thinking: { type: 'thinking', thinking: '', signature: '' },
}

/** Blocks come one after the other, except calls, which upstreams may interleave: a call ends with its input. */
export class BlockEvents {
  readonly #prefix: string
  readonly #calls = new Map<unknown, Call>()
  readonly #openCalls = new Set<Call>()
  /** The provider's own blocks that are open, by their place in its answer. */
  readonly #native = new Map<unknown, number>()
  #lastCall: Call | undefined
  #open: OpenBlock | undefined
  #next = 0

  readonly #toolsets: ReadonlySet<unknown>

  /** `prefix` begins the ids of calls to which the upstream gave none. `toolsets`: the names of those that are functions. */
  constructor(prefix: string, toolsets: ReadonlySet<unknown>) {
    this.#prefix = prefix
    this.#toolsets = toolsets
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0
  }

  take({ delta, ending, finishReason }: ChoicePart): BlockEvent[] {
    const events: BlockEvent[] = []
    if (isObject(delta.native)) this.#carry(fieldsOf(delta.native.event), events)
    this.#think(delta, events)
    this.#say(wordsIn(delta.content), events)
    // An explanation in Anthropic's format stands beside the reason to stop.
    if (!ending) this.#say(textIn(delta.refusal), events)
    for (const citation of Array.isArray(delta.citations) ? delta.citations : []) {
      this.#grow('text', { type: 'citations_delta', citation }, events)
    }
    if (Array.isArray(delta.tool_calls)) for (const piece of delta.tool_calls) this.#call(piece, events)
    if (finishReason !== null) for (const call of this.#calls.values()) this.#showMember(call, events)
    return events
  }

  /** The ends of the open blocks. May be called several times. */
  ending(): BlockEvent[] {
    const calls = [...this.#openCalls].filter(({ toolset }) => toolset === undefined)
    const open = [...(this.#open ? [this.#open] : []), ...calls].map(({ index }) => index)
    return [...open, ...this.#native.values()].map((index) => ({ type: 'content_block_stop', index }))
  }

  /** An event of a block that only this API format has, such as a search. */
  #carry({ type, index: place, content_block: block, delta }: JsonObject, events: BlockEvent[]): void {
    if (type === 'content_block_start' && isObject(block)) {
      this.#close(events)
      this.#native.set(place, this.#next)
      events.push({ type, index: this.#next++, content_block: block })
      return
    }
    const index = this.#native.get(place)
    if (index === undefined) return
    if (type === 'content_block_delta' && isObject(delta)) events.push({ type, index, delta })
    if (type !== 'content_block_stop') return
    this.#native.delete(place)
    events.push({ type, index })
  }

  #say(text: string, events: BlockEvent[]): void {
    if (text !== '') this.#grow('text', { type: 'text_delta', text }, events)
  }

  /** Upstreams send a thought as a text, in a list of details, or in both. */
  #think(delta: Delta, events: BlockEvent[]): void {
    const details = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isObject) : []
    const told = textIn(delta.reasoning_content) || textIn(delta.reasoning)
    this.#thinkAloud(told, events)
    for (const { type, text, summary, signature, data } of details) {
      if (told === '') this.#thinkAloud(textIn(text) || textIn(summary), events)
      if (textIn(signature) !== '') this.#sign(textIn(signature), events)
      if (type === 'reasoning.encrypted' && textIn(data) !== '') this.#redact(textIn(data), events)
    }
  }

  #thinkAloud(thinking: string, events: BlockEvent[]): void {
    if (thinking !== '') this.#grow('thinking', { type: 'thinking_delta', thinking }, events)
  }

  /** A signature belongs to the thought before it, which may be one without text. */
  #sign(signature: string, events: BlockEvent[]): void {
    this.#grow('thinking', { type: 'signature_delta', signature }, events).isSigned = true
  }

  #redact(data: string, events: BlockEvent[]): void {
    this.#close(events)
    const index = this.#next++
    events.push({ type: 'content_block_start', index, content_block: { type: 'redacted_thinking', data } })
    events.push({ type: 'content_block_stop', index })
  }

  #call(piece: unknown, events: BlockEvent[]): void {
    if (!isObject(piece)) return
    const { name, arguments: json } = isObject(piece.function) ? piece.function : {}
    const call = this.#calls.get(piece.index) ?? this.#beginCall(piece, name, events)
    const partial_json = textIn(json)
    if (partial_json === '') return
    if (!this.#openCalls.has(call))
      throw new UpstreamFailure('protocol', 'The upstream went on with a tool call that had ended.')
    call.json += partial_json
    if (call.toolset === undefined)
      events.push({ type: 'content_block_delta', index: call.index, delta: { type: 'input_json_delta', partial_json } })
  }

  #beginCall({ index: position, id, native }: JsonObject, name: unknown, events: BlockEvent[]): Call {
    if (this.#open) this.#close(events)
    if (this.#lastCall && parseJson(this.#lastCall.json) !== undefined) this.#endCall(this.#lastCall, events)
    const toolset = this.#toolsets.has(name) ? textIn(name) : undefined
    const callId = textIn(id) || `${this.#prefix}_${this.#calls.size + 1}`
    const call: Call = { index: toolset === undefined ? this.#next++ : -1, json: '', id: callId, toolset }
    this.#openCalls.add(call)
    this.#calls.set(position, call)
    this.#lastCall = call
    if (toolset !== undefined) return call
    const content_block = {
      type: 'tool_use',
      id: callId,
      name: textIn(name),
      input: {},
      caller: { type: 'direct' },
      ...(isObject(native) && copied(native, ['caller', 'toolset_name'])),
    }
    events.push({ type: 'content_block_start', index: call.index, content_block })
    return call
  }

  /** The call of a toolset's member, at the end of the answer. */
  #showMember(call: Call, events: BlockEvent[]): void {
    const { id, toolset, json } = call
    if (toolset === undefined || call.index >= 0) return
    this.#close(events)
    call.index = this.#next++
    const { action, input } = fieldsOf(parseJson(json))
    const block = { type: 'tool_use', id, name: textIn(action), input: {}, toolset_name: toolset }
    events.push({ type: 'content_block_start', index: call.index, content_block: block })
    const partial_json = JSON.stringify(isObject(input) ? input : {})
    events.push({
      type: 'content_block_delta',
      index: call.index,
      delta: { type: 'input_json_delta', partial_json },
    })
    events.push({ type: 'content_block_stop', index: call.index })
  }

  /** Adds to the open block of this kind, or to a new one: a thought is whole with its signature. */
  #grow(kind: OpenBlock['kind'], delta: JsonObject, events: BlockEvent[]): OpenBlock {
    if (this.#open?.kind !== kind || this.#open.isSigned) {
      this.#close(events)
      this.#open = { index: this.#next++, kind }
      events.push({ type: 'content_block_start', index: this.#open.index, content_block: EMPTY[kind] })
    }
    events.push({ type: 'content_block_delta', index: this.#open.index, delta })
    return this.#open
  }

  #close(events: BlockEvent[]): void {
    if (this.#open) events.push({ type: 'content_block_stop', index: this.#open.index })
    this.#open = undefined
    for (const call of this.#openCalls) this.#endCall(call, events)
  }

  #endCall(call: Call, events: BlockEvent[]): void {
    this.#openCalls.delete(call)
    if (this.#lastCall === call) this.#lastCall = undefined
    if (call.index >= 0) events.push({ type: 'content_block_stop', index: call.index })
  }
}

const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Some upstreams send their text in parts. */
function wordsIn(content: unknown): string {
  if (!Array.isArray(content)) return textIn(content)
  return content.map((part) => (isObject(part) && part.type === 'text' ? textIn(part.text) : '')).join('')
}
