import { type JsonObject, parseJson } from '../../domain/basics/json-object.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import { NO_BILL } from '../../domain/money/bill.ts'
import type { AnswerBuilder, AnswerHead, StreamWriter } from '../contract.ts'
import { type BlockEvent, BlockEvents } from './block-events.ts'
import { toolsetOf } from './client-tools.ts'
import {
  countsOf,
  emptyMessage,
  endingOf,
  type Finish,
  messageError,
  messageUsage,
  usageDetailsOf,
} from './message-head.ts'

function openMessage({ requestId, chat }: AnswerHead) {
  const tools = (chat.original?.body.tools ?? []) as JsonObject[]
  const toolsets = new Set(tools.flatMap(({ type }) => toolsetOf(type) ?? []))
  const blocks = new BlockEvents(requestId.replace('req_', 'toolu_'), toolsets)
  let finish: Finish | undefined
  return {
    take(part: ChoicePart): BlockEvent[] {
      if (part.finishReason !== null) finish = part
      return blocks.take(part)
    },
    cut() {
      finish ??= { finishReason: 'length' }
    },
    openEnds: () => blocks.ending(),
    ending: () => endingOf(finish ?? { finishReason: 'stop' }, blocks.hasCalls),
  }
}

export function messageWriter(head: AnswerHead): StreamWriter {
  const message = openMessage(head)
  let hasBegun = false
  return {
    choice(part) {
      const begin = hasBegun ? '' : beginningOf(head)
      hasBegun = true
      return begin + framesOf(message.take(part))
    },
    end({ bill }) {
      const { context_management, ...ending } = message.ending()
      const about = { delta: { ...ending, container: null }, ...(context_management ? { context_management } : {}) }
      const last = [{ type: 'message_delta', ...about, usage: messageUsage(bill) }, { type: 'message_stop' }]
      return framesOf([...message.openEnds(), ...last])
    },
    error: (error) => framesOf([{ type: 'error', ...messageError(error, head.requestId) }]),
  }
}

function beginningOf(head: AnswerHead): string {
  const message = { ...emptyMessage(head), usage: { ...countsOf(NO_BILL), ...usageDetailsOf(NO_BILL) } }
  return framesOf([{ type: 'message_start', message }, { type: 'ping' }])
}

function framesOf(events: readonly { readonly type: string; readonly [field: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

type Block = Record<string, unknown>

export function messageBuilder(head: AnswerHead): AnswerBuilder {
  const message = openMessage(head)
  const content: Block[] = []
  let chars = 0
  return {
    get chars() {
      return chars
    },
    add(part) {
      for (const event of message.take(part)) apply(event)
    },
    cut: message.cut,
    build({ bill }) {
      const usage = { ...messageUsage(bill), ...usageDetailsOf(bill) }
      return { ...emptyMessage(head), content: content.map(finished), ...message.ending(), usage }
    },
  }

  function apply(event: BlockEvent): void {
    if (event.type === 'content_block_start') {
      content.push({ ...event.content_block })
      chars += JSON.stringify(event.content_block).length
      return
    }
    const block = content[event.index]
    if (event.type === 'content_block_stop' || !block) return
    for (const name in event.delta) grow(block, name, event.delta[name])
  }

  function grow(block: Block, name: string, value: unknown): void {
    if (name === 'type' || value === null) return
    if (name === 'citation') {
      if (Array.isArray(block.citations)) block.citations.push(value)
      else block.citations = [value]
      chars += JSON.stringify(value ?? null).length
      return
    }
    block[name] = `${block[name] ?? ''}${value}`
    chars += String(value).length
  }
}

/** The input of a tool is text until it is whole. A call that was cut at the output cap has one that is no JSON. */
function finished({ partial_json: json, ...block }: Block): Block {
  if (block.type !== 'tool_use' && json === undefined) return block
  const input = parseJson(String(json))
  return { ...block, input: input === undefined ? {} : input }
}
