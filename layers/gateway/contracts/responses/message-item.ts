import type { JsonObject } from '../../domain/basics/json-object.ts'
import { isObject } from '../../wire/basics/field-rules.ts'
import type { Emit, ItemPosition, ItemStatus, OutputItem } from './output-item.ts'

type PartKind = 'output_text' | 'refusal'
type Part = { readonly kind: PartKind; text: string; readonly logprobs: unknown[]; isOpen: boolean }

/** The model's text, in parts of text and of refusal. */
export class MessageItem implements OutputItem {
  readonly #emit: Emit
  readonly #position: ItemPosition
  readonly #parts: Part[] = []
  #status: ItemStatus | 'in_progress' = 'in_progress'

  constructor(emit: Emit, position: ItemPosition) {
    this.#emit = emit
    this.#position = position
    emit('response.output_item.added', { output_index: position.output_index, item: this.shown })
  }

  get shown(): JsonObject {
    return {
      id: this.#position.item_id,
      type: 'message',
      status: this.#status,
      role: 'assistant',
      content: this.#parts.map(shownPart),
    }
  }

  say(kind: PartKind, delta: string, logprobs: readonly unknown[]): void {
    const last = this.#parts.at(-1)
    const part = last?.kind === kind ? last : this.#begin(kind)
    part.text += delta
    for (const one of logprobs) part.logprobs.push(one)
    const at = { ...this.#position, content_index: this.#parts.length - 1, delta }
    if (kind === 'refusal') this.#emit('response.refusal.delta', at)
    else this.#emit('response.output_text.delta', { ...at, logprobs })
  }

  close(status: ItemStatus): void {
    this.#endPart()
    this.#status = status
    this.#emit('response.output_item.done', { output_index: this.#position.output_index, item: this.shown })
  }

  #begin(kind: PartKind): Part {
    this.#endPart()
    const part = { kind, text: '', logprobs: [], isOpen: true }
    this.#parts.push(part)
    const content_index = this.#parts.length - 1
    this.#emit('response.content_part.added', { ...this.#position, content_index, part: shownPart(part) })
    return part
  }

  #endPart(): void {
    const part = this.#parts.at(-1)
    if (!part?.isOpen) return
    part.isOpen = false
    const at = { ...this.#position, content_index: this.#parts.length - 1 }
    if (part.kind === 'refusal') this.#emit('response.refusal.done', { ...at, refusal: part.text })
    else this.#emit('response.output_text.done', { ...at, text: part.text, logprobs: part.logprobs })
    this.#emit('response.content_part.done', { ...at, part: shownPart(part) })
  }
}

function shownPart({ kind, text, logprobs }: Part): JsonObject {
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs }
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
