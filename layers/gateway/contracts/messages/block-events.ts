import type { ChoicePart, Delta } from '../../domain/chat.ts'
import { UpstreamFailure } from '../../domain/upstream-failure.ts'
import { isObject } from '../../wire/field-rules.ts'

type Fields = Readonly<Record<string, unknown>>

export type BlockEvent =
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: Fields }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: Fields }
  | { readonly type: 'content_block_stop'; readonly index: number }

type OpenBlock = {
  readonly index: number
  readonly kind: 'text' | 'thinking' | 'tool'
  /** The position of a tool's call among the calls. */
  readonly call?: unknown
  isSigned?: boolean
}

/** Tells an answer as blocks that come one after the other, each with its beginning and its end. */
export class BlockEvents {
  readonly #prefix: string
  /** Whether each call has had a piece of its input, by its position. */
  readonly #calls = new Map<unknown, boolean>()
  #open: OpenBlock | undefined
  #next = 0

  /** `prefix` begins the ids of calls whose upstream gave them none. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0
  }

  take({ delta, ending }: ChoicePart): BlockEvent[] {
    const events: BlockEvent[] = []
    this.#think(delta, events)
    this.#say(textIn(delta.content), events)
    // An explanation in Anthropic's words stands beside the reason to stop.
    if (!ending) this.#say(textIn(delta.refusal), events)
    if (Array.isArray(delta.citations)) for (const citation of delta.citations) this.#cite(citation, events)
    if (Array.isArray(delta.tool_calls)) for (const piece of delta.tool_calls) this.#call(piece, events)
    return events
  }

  /** The end of the block that is open, if one is. Tells it as often as it is asked. */
  ending(): BlockEvent[] {
    return this.#open ? [{ type: 'content_block_stop', index: this.#open.index }] : []
  }

  #say(text: string, events: BlockEvent[]): void {
    if (text === '') return
    const { index } = this.#blockOf('text', () => ({ type: 'text', text: '', citations: null }), events)
    events.push({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
  }

  #cite(citation: unknown, events: BlockEvent[]): void {
    const { index } = this.#blockOf('text', () => ({ type: 'text', text: '', citations: null }), events)
    events.push({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } })
  }

  /** Upstreams tell a thought as a text, in a list of details, or in both. */
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
    if (thinking === '') return
    const { index } = this.#thought(events)
    events.push({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } })
  }

  /** A signature is of the thought before it, which may be one without words. */
  #sign(signature: string, events: BlockEvent[]): void {
    const block = this.#thought(events)
    events.push({ type: 'content_block_delta', index: block.index, delta: { type: 'signature_delta', signature } })
    block.isSigned = true
  }

  #thought(events: BlockEvent[]): OpenBlock {
    if (this.#open?.isSigned) this.#close(events)
    return this.#blockOf('thinking', () => ({ type: 'thinking', thinking: '', signature: '' }), events)
  }

  #redact(data: string, events: BlockEvent[]): void {
    this.#close(events)
    const index = this.#next++
    events.push({ type: 'content_block_start', index, content_block: { type: 'redacted_thinking', data } })
    events.push({ type: 'content_block_stop', index })
  }

  #call(piece: unknown, events: BlockEvent[]): void {
    if (!isObject(piece)) return
    const { index: call, id } = piece
    const { name, arguments: json } = isObject(piece.function) ? piece.function : {}
    const partial_json = textIn(json)
    if (!this.#calls.has(call)) this.#beginCall(call, id, name, events)
    // A call without input may be told so at the end of the answer.
    if (partial_json === '' || (partial_json === '{}' && this.#hasEndedEmpty(call))) return
    const block = this.#openCall(call)
    this.#calls.set(call, true)
    const delta = { type: 'input_json_delta', partial_json }
    events.push({ type: 'content_block_delta', index: block.index, delta })
  }

  #hasEndedEmpty(call: unknown): boolean {
    return this.#open?.call !== call && this.#calls.get(call) === false
  }

  /** A block that has ended cannot go on. */
  #openCall(call: unknown): OpenBlock {
    if (this.#open?.kind === 'tool' && this.#open.call === call) return this.#open
    const message = 'The upstream went on with a tool call after it had begun something else.'
    throw new UpstreamFailure('protocol', message)
  }

  #beginCall(call: unknown, id: unknown, name: unknown, events: BlockEvent[]): void {
    this.#close(events)
    this.#calls.set(call, false)
    const content_block = {
      type: 'tool_use',
      id: textIn(id) || `${this.#prefix}_${this.#calls.size}`,
      name: textIn(name),
      input: {},
      caller: { type: 'direct' },
    }
    this.#start('tool', content_block, events, call)
  }

  #blockOf(kind: OpenBlock['kind'], block: () => Fields, events: BlockEvent[]): OpenBlock {
    if (this.#open?.kind === kind) return this.#open
    this.#close(events)
    return this.#start(kind, block(), events)
  }

  #start(kind: OpenBlock['kind'], content_block: Fields, events: BlockEvent[], call?: unknown): OpenBlock {
    const block: OpenBlock = { index: this.#next++, kind, call }
    events.push({ type: 'content_block_start', index: block.index, content_block })
    this.#open = block
    return block
  }

  #close(events: BlockEvent[]): void {
    for (const event of this.ending()) events.push(event)
    this.#open = undefined
  }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
