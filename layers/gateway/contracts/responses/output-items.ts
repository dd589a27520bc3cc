import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import { packThoughts, THOUGHT_FORMATS } from '../../wire/chat/carried-thoughts.ts'
import { type ClientTool, callFields } from './client-tools.ts'
import type { ToolName } from './read-tools.ts'

/** Sends an event to the client. Its number in the stream is added. */
export type Emit = (type: string, fields: JsonObject) => void

export type ItemStatus = 'completed' | 'incomplete'
export type ItemPosition = { readonly output_index: number; readonly item_id: string }

export abstract class OutputItem {
  protected readonly emit: Emit
  protected readonly position: ItemPosition
  protected status: ItemStatus | 'in_progress' = 'in_progress'

  constructor(emit: Emit, position: ItemPosition) {
    this.emit = emit
    this.position = position
  }

  abstract get shown(): JsonObject

  protected abstract endPart(status: ItemStatus): void

  open(): this {
    this.#tell('added')
    return this
  }

  /** Nothing is added to the item afterwards. */
  close(status: ItemStatus): void {
    this.endPart(status)
    this.status = status
    this.#tell('done')
  }

  #tell(what: 'added' | 'done'): void {
    this.emit(`response.output_item.${what}`, { output_index: this.position.output_index, item: this.shown })
  }
}

/** An item that only the Responses API has, such as a search: the provider's own events, at their place in this answer. */
export class NativeItem extends OutputItem {
  #item: JsonObject

  constructor(emit: Emit, position: ItemPosition, item: JsonObject) {
    super(emit, position)
    this.#item = item
  }

  get shown(): JsonObject {
    return this.#item
  }

  carry({ type, ...fields }: JsonObject): void {
    this.emit(String(type), { ...fields, output_index: this.position.output_index })
  }

  finish(item: JsonObject): void {
    this.#item = item
    this.close('completed')
  }

  override close(status: ItemStatus): void {
    if (this.status === 'in_progress') super.close(status)
  }

  protected endPart(): void {}
}

const CALL_EVENTS = { function: 'response.function_call_arguments', custom: 'response.custom_tool_call_input' } as const

/** A call of a tool. Calls come interleaved, so each is open until the answer ends. */
export class CallItem extends OutputItem {
  readonly #kind: keyof typeof CALL_EVENTS
  readonly #call: JsonObject
  #said = ''

  constructor(emit: Emit, position: ItemPosition, kind: keyof typeof CALL_EVENTS, callId: string, tool: ToolName) {
    super(emit, position)
    this.#kind = kind
    this.#call = { call_id: callId, ...tool }
  }

  get shown(): JsonObject {
    const id = this.position.item_id
    return this.#kind === 'custom'
      ? { id, type: 'custom_tool_call', ...this.#call, input: this.#said }
      : { id, type: 'function_call', status: this.status, ...this.#call, arguments: this.#said }
  }

  say(delta: string): void {
    this.#said += delta
    this.emit(`${CALL_EVENTS[this.#kind]}.delta`, { ...this.position, delta })
  }

  protected endPart(status: ItemStatus): void {
    // Clients parse the arguments of a complete call, so empty ones are `{}`.
    if (this.#kind === 'function' && this.#said === '' && status === 'completed') this.say('{}')
    const said = this.#kind === 'custom' ? { input: this.#said } : { name: this.#call.name, arguments: this.#said }
    this.emit(`${CALL_EVENTS[this.#kind]}.done`, { ...this.position, ...said })
  }
}

/** A call of a tool of the client's with a type of its own. Its arguments are shown when they are complete. */
export class ClientCallItem extends OutputItem {
  readonly #tool: ClientTool
  readonly #callId: string
  #said = ''

  constructor(emit: Emit, position: ItemPosition, tool: ClientTool, callId: string) {
    super(emit, position)
    this.#tool = tool
    this.#callId = callId
  }

  get shown(): JsonObject {
    const { item_id: id } = this.position
    const fields = callFields(this.#tool, this.#said)
    return { id, type: this.#tool.call, status: this.status, call_id: this.#callId, ...fields }
  }

  say(delta: string): void {
    this.#said += delta
  }

  protected endPart(): void {}
}

type Part = {
  readonly kind: 'output_text' | 'refusal'
  text: string
  readonly logprobs: unknown[]
  readonly annotations: JsonObject[]
}

export class MessageItem extends OutputItem {
  readonly #parts: Part[] = []
  readonly #phase: JsonObject

  constructor(emit: Emit, position: ItemPosition, phase: unknown) {
    super(emit, position)
    this.#phase = phase === undefined ? {} : { phase }
  }

  get shown(): JsonObject {
    const { item_id: id } = this.position
    const content = this.#parts.map(shownPart)
    return { id, type: 'message', status: this.status, role: 'assistant', content, ...this.#phase }
  }

  say(kind: Part['kind'], delta: string, logprobs: readonly unknown[]): void {
    const last = this.#parts.at(-1)
    const part = last?.kind === kind ? last : this.#begin(kind)
    part.text += delta
    for (const one of logprobs) part.logprobs.push(one)
    if (kind === 'refusal') this.emit('response.refusal.delta', { ...this.#at, delta })
    else this.emit('response.output_text.delta', { ...this.#at, delta, logprobs })
  }

  annotate(annotation: JsonObject): void {
    const { annotations } = this.#parts.findLast(({ kind }) => kind === 'output_text') ?? this.#begin('output_text')
    const added = { annotation_index: annotations.length, annotation }
    annotations.push(annotation)
    this.emit('response.output_text.annotation.added', { ...this.#at, ...added })
  }

  get #at() {
    return { ...this.position, content_index: this.#parts.length - 1 }
  }

  #begin(kind: Part['kind']): Part {
    this.endPart()
    const part = { kind, text: '', logprobs: [], annotations: [] }
    this.#parts.push(part)
    this.emit('response.content_part.added', { ...this.#at, part: shownPart(part) })
    return part
  }

  protected endPart(): void {
    const part = this.#parts.at(-1)
    if (!part) return
    if (part.kind === 'refusal') this.emit('response.refusal.done', { ...this.#at, refusal: part.text })
    else this.emit('response.output_text.done', { ...this.#at, text: part.text, logprobs: part.logprobs })
    this.emit('response.content_part.done', { ...this.#at, part: shownPart(part) })
  }
}

function shownPart({ kind, text, logprobs, annotations }: Part): JsonObject {
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [...annotations], logprobs }
}

/** Log probabilities as Chat Completions has them, with the fields that this contract requires. */
export function readLogprobs(logprobs: unknown): JsonObject[] {
  const content = isObject(logprobs) ? logprobs.content : undefined
  return Array.isArray(content) ? content.filter(isObject).map(shownLogprob) : []
}

function shownLogprob({ token, logprob, bytes, top_logprobs: top }: JsonObject): JsonObject {
  const others = Array.isArray(top) ? top.filter(isObject) : []
  return {
    token,
    logprob,
    bytes: Array.isArray(bytes) ? bytes : [],
    top_logprobs: others.map((other) => ({ ...other, bytes: Array.isArray(other.bytes) ? other.bytes : [] })),
  }
}

/** The model's thoughts, as a summary in parts, with the provider's signature for the next turn. */
export class ReasoningItem extends OutputItem {
  readonly #summary: string[] = []
  readonly #spoken: string[] = []
  #isSpeaking = false
  readonly #proofs: JsonObject[] = []
  #part: unknown

  get shown(): JsonObject {
    const proof = this.#proof()
    return {
      id: this.position.item_id,
      type: 'reasoning',
      summary: this.#summary.map(summaryPart),
      ...(this.#spoken.length > 0 && { content: this.#spoken.map(spokenPart) }),
      ...(proof !== undefined && { encrypted_content: proof }),
    }
  }

  get isProven(): boolean {
    return this.#proofs.length > 0
  }

  /** `part` is the same for all text of one part of the summary. */
  think(delta: string, part: unknown): void {
    if (this.#summary.length === 0 || part !== this.#part) this.#begin(part, false)
    const { summary_index } = this.#at
    this.#summary[summary_index] += delta
    this.emit('response.reasoning_summary_text.delta', { ...this.#at, delta })
  }

  /** The same of one part of the model's own words. */
  speak(delta: string, part: unknown): void {
    if (this.#spoken.length === 0 || part !== this.#part) this.#begin(part, true)
    const content_index = this.#spoken.length - 1
    this.#spoken[content_index] += delta
    this.emit('response.reasoning_text.delta', { ...this.position, content_index, delta })
  }

  prove(detail: JsonObject): void {
    this.#proofs.push(detail)
  }

  /** OpenAI's encrypted content is passed unchanged; the signatures of others are packed for their way through clients. */
  #proof(): string | undefined {
    const [first] = this.#proofs
    if (first === undefined) return undefined
    const isOwn = first.format === THOUGHT_FORMATS.openai && typeof first.data === 'string' && this.#proofs.length === 1
    return isOwn ? (first.data as string) : packThoughts(this.#proofs)
  }

  get #at() {
    return { ...this.position, summary_index: this.#summary.length - 1 }
  }

  #begin(part: unknown, isSpeaking: boolean): void {
    this.endPart()
    this.#part = part
    this.#isSpeaking = isSpeaking
    if (isSpeaking) {
      this.#spoken.push('')
      return
    }
    this.#summary.push('')
    this.emit('response.reasoning_summary_part.added', { ...this.#at, part: summaryPart('') })
  }

  protected endPart(): void {
    const text = (this.#isSpeaking ? this.#spoken : this.#summary).at(-1)
    if (text === undefined) return
    if (this.#isSpeaking) {
      const at = { ...this.position, content_index: this.#spoken.length - 1 }
      this.emit('response.reasoning_text.done', { ...at, text })
      return
    }
    this.emit('response.reasoning_summary_text.done', { ...this.#at, text })
    this.emit('response.reasoning_summary_part.done', { ...this.#at, part: summaryPart(text) })
  }
}

function spokenPart(text: string): JsonObject {
  return { type: 'reasoning_text', text }
}

function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}
