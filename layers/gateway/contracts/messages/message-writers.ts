import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import { parseJson } from '../../domain/basics/json-object.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import type { AnswerBuilder, AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'
import { type BlockEvent, BlockEvents } from './block-events.ts'
import {
  emptyMessage,
  endingOf,
  type Finish,
  messageError,
  messageUsage,
  usageOfNone,
  usageOfWhole,
} from './message-head.ts'

/** An answer as blocks, and how it ended. */
class Message {
  protected readonly head: AnswerHead
  protected readonly blocks: BlockEvents
  protected finish: Finish | undefined

  constructor(head: AnswerHead) {
    this.head = head
    this.blocks = new BlockEvents(head.requestId.replace('req_', 'toolu_'))
  }

  protected take(part: ChoicePart): BlockEvent[] {
    if (part.finishReason !== null) this.finish = part
    return this.blocks.take(part)
  }

  protected get ending() {
    return endingOf(this.finish ?? { finishReason: 'stop' }, this.blocks.hasCalls)
  }
}

export class MessageWriter extends Message implements StreamWriter {
  #hasBegun = false

  choice(part: ChoicePart): string {
    const begin = this.#hasBegun ? '' : this.#begin()
    this.#hasBegun = true
    return begin + this.take(part).map(frame).join('')
  }

  end({ bill }: CountedUsage): string {
    const delta = { ...this.ending, container: null }
    return [
      ...this.blocks.ending(),
      { type: 'message_delta', delta, usage: messageUsage(bill) },
      { type: 'message_stop' },
    ]
      .map(frame)
      .join('')
  }

  error(error: GatewayError): string {
    return frame({ type: 'error', ...messageError(error, this.head.requestId) })
  }

  #begin(): string {
    const message = { ...emptyMessage(this.head), usage: usageOfNone() }
    return frame({ type: 'message_start', message }) + frame({ type: 'ping' })
  }
}

function frame(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

type Block = Record<string, unknown>

export class MessageBuilder extends Message implements AnswerBuilder {
  readonly #content: Block[] = []
  chars = 0

  add(part: ChoicePart): void {
    for (const event of this.take(part)) this.#apply(event)
  }

  cut(): void {
    this.finish ??= { finishReason: 'length' }
  }

  build({ bill }: CountedUsage): object {
    return {
      ...emptyMessage(this.head),
      content: this.#content.map(finished),
      ...this.ending,
      usage: usageOfWhole(bill),
    }
  }

  #apply(event: BlockEvent): void {
    if (event.type === 'content_block_start') {
      this.#content.push({ ...event.content_block })
      this.chars += JSON.stringify(event.content_block).length
      return
    }
    const block = this.#content[event.index]
    if (event.type === 'content_block_stop' || !block) return
    for (const name in event.delta) this.#grow(block, name, event.delta[name])
  }

  #grow(block: Block, name: string, value: unknown): void {
    if (name === 'type') return
    if (name === 'citation') {
      if (Array.isArray(block.citations)) block.citations.push(value)
      else block.citations = [value]
      this.chars += JSON.stringify(value ?? null).length
      return
    }
    block[name] = `${block[name] ?? ''}${value}`
    this.chars += String(value).length
  }
}

/** The input of a tool is text until it is whole. A call that was cut at the output cap has one that is no JSON. */
function finished({ partial_json: json, ...block }: Block): Block {
  if (block.type !== 'tool_use') return block
  const input = parseJson(String(json))
  return { ...block, input: input === undefined ? {} : input }
}
