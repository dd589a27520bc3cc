import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChoicePart, Delta } from '../../domain/chat/chat.ts'
import { isObject, isText } from '../../wire/basics/field-rules.ts'
import { THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'
import type { AnswerHead } from '../contract.ts'
import {
  CallItem,
  ClientCallItem,
  type Emit,
  type ItemPosition,
  type ItemStatus,
  MessageItem,
  NativeItem,
  type OutputItem,
  ReasoningItem,
  readLogprobs,
} from './output-items.ts'
import { wantsLogprobs } from './read-request.ts'
import { type NamedTool, toolNames } from './read-tools.ts'

export type Ending = 'completed' | 'max_output_tokens' | 'content_filter'

const ENDINGS: ReadonlyMap<unknown, Ending> = new Map<unknown, Ending>([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

export class Output {
  readonly #emit: Emit
  readonly #id: string
  readonly #wantsLogprobs: boolean
  readonly #tools: ReadonlyMap<string, NamedTool>
  readonly #items: OutputItem[] = []
  readonly #calls = new Map<unknown, CallItem | ClientCallItem>()
  /** The provider's own items that are open, by their place in its answer. */
  readonly #native = new Map<unknown, NativeItem>()
  #talk: { readonly item: MessageItem | ReasoningItem; readonly id: unknown } | undefined
  #ending: Ending | undefined
  chars = 0

  constructor({ requestId, chat }: AnswerHead, emit: Emit) {
    const { body = {} } = chat.original ?? {}
    this.#emit = emit
    this.#id = requestId.replace('req_', '')
    this.#wantsLogprobs = wantsLogprobs(body)
    this.#tools = toolNames(body)
  }

  get ending(): Ending {
    return this.#ending ?? 'completed'
  }

  get shown(): JsonObject[] {
    return this.#items.map(({ shown }) => shown)
  }

  add({ index, delta, logprobs, finishReason }: ChoicePart): void {
    // One choice was asked for, and an answer that has ended gets no more parts.
    if (index !== 0 || this.#ending !== undefined) return
    if (isObject(delta.native)) this.#carry(delta.native)
    this.#think(delta)
    if (isObject(delta.message)) this.#beginMessage(delta.message)
    this.#say('output_text', delta.content, this.#wantsLogprobs ? readLogprobs(logprobs) : [])
    this.#say('refusal', delta.refusal, [])
    const annotations = Array.isArray(delta.annotations) ? delta.annotations.filter(isObject) : []
    for (const one of annotations) this.#messageItem().annotate(this.#flat(one))
    if (Array.isArray(delta.tool_calls)) for (const piece of delta.tool_calls) this.#call(piece)
    if (isObject(delta.function_call)) this.#call({ index: 'legacy', function: delta.function_call })
    if (finishReason !== null) this.end(ENDINGS.get(finishReason) ?? 'completed')
  }

  end(ending: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    const status = ending === 'completed' ? 'completed' : 'incomplete'
    this.#endTalk(status)
    for (const call of this.#calls.values()) call.close(status)
    for (const native of this.#native.values()) native.close(status)
  }

  /** Thoughts come as text, as details of their own, or as both: then the details are better. */
  #think(delta: Delta): void {
    const details: JsonObject[] = Array.isArray(delta.reasoning_details) ? delta.reasoning_details.filter(isObject) : []
    const plain = isText(delta.reasoning_content) ? delta.reasoning_content : delta.reasoning
    if (isText(plain) && !details.some((detail) => thoughtOf(detail))) {
      this.#thinking(undefined).think(this.#counted(plain), undefined)
    }
    for (const detail of details) {
      const thought = thoughtOf(detail)
      if (thought && isSpoken(detail)) this.#thinking(detail.id).speak(this.#counted(thought), detail.index)
      else if (thought) this.#thinking(detail.id).think(this.#counted(thought), detail.index)
      const { index: _, text: __, summary: ___, ...proof } = detail
      if (isText(proof.data)) this.#reasoningItem(detail.id).prove({ ...proof, data: this.#counted(proof.data) })
      else if (isText(proof.signature)) this.#reasoningItem(detail.id).prove(proof)
    }
  }

  /** The item that the next thought belongs to. An item is complete once it has its signature. */
  #thinking(id: unknown): ReasoningItem {
    const item = this.#reasoningItem(id)
    if (!item.isProven) return item
    this.#endTalk('completed')
    return this.#reasoningItem(id)
  }

  #say(kind: 'output_text' | 'refusal', text: unknown, logprobs: readonly unknown[]): void {
    if (isText(text)) this.#messageItem().say(kind, this.#counted(text), logprobs)
  }

  /** An annotation has its fields beside its type here, and in an object named for its type in chat completions. */
  #flat({ type, ...rest }: JsonObject): JsonObject {
    const inside = rest[String(type)]
    const flat = { type, ...(isObject(inside) ? inside : rest) }
    this.#counted(JSON.stringify(flat))
    return flat
  }

  #carry({ event, said }: JsonObject): void {
    if (!isObject(event)) return
    const { type, output_index: place, item } = event
    this.#counted(isObject(item) ? JSON.stringify(item) : isText(said) ? said : '')
    let native = this.#native.get(place)
    if (!native) {
      if (!isObject(item)) return
      this.#endTalk('completed')
      const position = this.#position('item')
      native = new NativeItem(this.#emit, isText(item.id) ? { ...position, item_id: item.id } : position, item).open()
      this.#native.set(place, native)
      this.#items.push(native)
    }
    if (type === 'response.output_item.done') native.finish(isObject(item) ? item : {})
    else if (type !== 'response.output_item.added') native.carry(event)
  }

  #call(piece: unknown): void {
    if (!isObject(piece)) return
    const kind = isObject(piece.custom) ? 'custom' : 'function'
    const said = isObject(piece[kind]) ? (piece[kind] as JsonObject) : {}
    const text = kind === 'custom' ? said.input : said.arguments
    let call = this.#calls.get(piece.index)
    if (!call) {
      this.#endTalk('completed')
      const callId = isText(piece.id) ? piece.id : `call_${this.#id}_${this.#items.length}`
      const name = isText(said.name) ? said.name : ''
      const { client, ...tool } = this.#tools.get(name) ?? { name }
      const position = this.#position(kind === 'custom' ? 'ctc' : 'fc')
      call = client
        ? new ClientCallItem(this.#emit, position, client, callId).open()
        : new CallItem(this.#emit, position, kind, callId, tool).open()
      this.#calls.set(piece.index, call)
      this.#items.push(call)
    }
    if (isText(text)) call.say(this.#counted(text))
  }

  #messageItem(): MessageItem {
    return this.#talk?.item instanceof MessageItem ? this.#talk.item : this.#beginMessage({})
  }

  #beginMessage({ phase }: JsonObject): MessageItem {
    this.#endTalk('completed')
    return this.#begin(new MessageItem(this.#emit, this.#position('msg'), phase), undefined)
  }

  /** A thought with another id is another item. */
  #reasoningItem(id: unknown): ReasoningItem {
    const open = this.#talk
    if (open?.item instanceof ReasoningItem && (id === undefined || open.id === undefined || open.id === id)) {
      return open.item
    }
    this.#endTalk('completed')
    const position = this.#position('rs')
    return this.#begin(new ReasoningItem(this.#emit, isText(id) ? { ...position, item_id: id } : position), id)
  }

  #begin<Item extends MessageItem | ReasoningItem>(item: Item, id: unknown): Item {
    this.#talk = { item, id }
    this.#items.push(item)
    item.open()
    return item
  }

  #endTalk(status: ItemStatus): void {
    this.#talk?.item.close(status)
    this.#talk = undefined
  }

  #position(prefix: string): ItemPosition {
    return { output_index: this.#items.length, item_id: `${prefix}_${this.#id}_${this.#items.length}` }
  }

  #counted(text: string): string {
    this.chars += text.length
    return text
  }
}

/** Words of thought as a Responses provider sent them, beside or without a summary. */
const isSpoken = ({ type, format }: JsonObject) => type === 'reasoning.text' && format === THOUGHT_FORMATS.openai

function thoughtOf({ summary, text }: JsonObject): string | undefined {
  const thought = summary ?? text
  return isText(thought) ? thought : undefined
}
