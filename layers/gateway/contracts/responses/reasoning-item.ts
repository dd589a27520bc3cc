import type { JsonObject } from '../../domain/basics/json-object.ts'
import { packThoughts } from '../../wire/chat/carried-thoughts.ts'
import type { Emit, ItemPosition, ItemStatus, OutputItem } from './output-item.ts'

/** The model's thoughts, as a summary in parts, with the provider's signature for the next turn. */
export class ReasoningItem implements OutputItem {
  readonly #emit: Emit
  readonly #position: ItemPosition
  readonly #summary: string[] = []
  readonly #proofs: JsonObject[] = []
  #part: unknown
  #isOpen = false

  constructor(emit: Emit, position: ItemPosition) {
    this.#emit = emit
    this.#position = position
    emit('response.output_item.added', { output_index: position.output_index, item: this.shown })
  }

  get shown(): JsonObject {
    const proof = this.#proof()
    return {
      id: this.#position.item_id,
      type: 'reasoning',
      summary: this.#summary.map(shownPart),
      ...(proof !== undefined && { encrypted_content: proof }),
    }
  }

  get isProven(): boolean {
    return this.#proofs.length > 0
  }

  /** `part` is the same for all text of one part of the summary. */
  think(delta: string, part: unknown): void {
    if (!this.#isOpen || part !== this.#part) this.#begin(part)
    const summary_index = this.#summary.length - 1
    this.#summary[summary_index] += delta
    this.#emit('response.reasoning_summary_text.delta', { ...this.#position, summary_index, delta })
  }

  prove(detail: JsonObject): void {
    this.#proofs.push(detail)
  }

  close(_: ItemStatus): void {
    this.#endPart()
    this.#emit('response.output_item.done', { output_index: this.#position.output_index, item: this.shown })
  }

  /** OpenAI's encrypted content is passed unchanged; the signatures of others are packed for their way through clients. */
  #proof(): string | undefined {
    const [first] = this.#proofs
    if (first === undefined) return undefined
    const isOwn = first.format === 'openai-responses-v1' && typeof first.data === 'string' && this.#proofs.length === 1
    return isOwn ? (first.data as string) : packThoughts(this.#proofs)
  }

  #begin(part: unknown): void {
    this.#endPart()
    this.#part = part
    this.#isOpen = true
    this.#summary.push('')
    const summary_index = this.#summary.length - 1
    this.#emit('response.reasoning_summary_part.added', { ...this.#position, summary_index, part: shownPart('') })
  }

  #endPart(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const at = { ...this.#position, summary_index: this.#summary.length - 1 }
    const text = this.#summary.at(-1) ?? ''
    this.#emit('response.reasoning_summary_text.done', { ...at, text })
    this.#emit('response.reasoning_summary_part.done', { ...at, part: shownPart(text) })
  }
}

function shownPart(text: string): JsonObject {
  return { type: 'summary_text', text }
}
