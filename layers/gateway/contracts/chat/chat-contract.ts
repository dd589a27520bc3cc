import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody, ChatRequest, ChoicePart } from '../../domain/chat/chat.ts'
import { badField, isObject } from '../../wire/basics/field-rules.ts'
import { knownRows } from '../../wire/basics/shape.ts'
import { CHAT_FIELDS } from '../../wire/chat/chat-fields.ts'
import { errorFrame } from '../../wire/chat/frames.ts'
import { hostedIn } from '../../wire/chat/hosted-tools.ts'
import { promptMedia } from '../../wire/chat/prompt-media.ts'
import { writeUsage } from '../../wire/money/usage-counts.ts'
import { type JsonBody, readFields, readIncludeUsage } from '../../wire/requests/read-body.ts'
import { completionHead } from '../completion-builder.ts'
import type { AnswerHead, CountedUsage, StreamWriter } from '../contract.ts'

const ROWS = knownRows(CHAT_FIELDS)
const CAP_FIELDS = ['max_tokens', 'max_completion_tokens'] as const
/** A message with one of these roles may have a call or a refusal in place of content. */
const MAY_BE_EMPTY: ReadonlySet<unknown> = new Set(['assistant', 'function'])

export function parseChatRequest(json: JsonBody): ChatRequest {
  const { body, ...read } = readFields(json, ROWS)
  const messages = requireMessages(body, read.raw)
  return {
    ...read,
    includeUsage: readIncludeUsage(body.stream_options, read.stream),
    choices: typeof body.n === 'number' ? body.n : 1,
    namedCap: namedCap(body),
    messageCount: messages.length,
    toolCount: lengthOf(body.tools) + lengthOf(body.functions) + (hasSchema(body.response_format) ? 1 : 0),
    media: promptMedia(messages),
    hosted: hostedIn(body, () => undefined, 'chat'),
    body,
  }
}

function namedCap(body: ChatBody): number | undefined {
  const caps = CAP_FIELDS.flatMap((field) => (typeof body[field] === 'number' ? [body[field]] : []))
  return caps.length > 0 ? Math.max(...caps) : undefined
}

function requireMessages({ messages }: ChatBody, raw: ChatBody): readonly JsonObject[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw badField('messages', 'a non-empty array of messages', raw.messages, raw)
  }
  for (const [index, message] of messages.entries()) requireContent(message, index, raw)
  return messages
}

function requireContent({ role, content }: JsonObject, index: number, { messages: sent }: ChatBody): void {
  const path = `messages[${index}].content`
  if (typeof content === 'string' || (MAY_BE_EMPTY.has(role) && (content ?? null) === null)) return
  if (!Array.isArray(content)) {
    throw badField(path, 'a string or an array of content parts', content, (sent as readonly unknown[])[index])
  }
  for (const [at, { type, text }] of (content as JsonObject[]).entries()) {
    if (type === 'text' && typeof text !== 'string') throw badField(`${path}[${at}].text`, 'a string', text)
  }
}

/** A schema for the answer makes a provider add instructions, as a tool does. */
function hasSchema(format: unknown): boolean {
  return isObject(format) && (format.type === 'json_schema' || isObject(format.schema))
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

/** Turns parts into OpenAI's chunks. Every choice's first chunk carries the role, even if the upstream sent none. */
export class ChunkWriter implements StreamWriter {
  /** The beginning and the end of every chunk, written once: they are most of its bytes. */
  readonly #start: string
  readonly #end: string
  readonly #includesUsage: boolean
  readonly #begun = new Set<number>()

  constructor(head: AnswerHead) {
    this.#start = `data: ${JSON.stringify(completionHead(head, 'chat.completion.chunk')).slice(0, -1)},"choices":[`
    this.#includesUsage = head.chat.includeUsage
    this.#end = this.#includesUsage ? '],"usage":null' : ']'
  }

  choice(part: ChoicePart): string {
    const isFirst = !this.#begun.has(part.index)
    if (isFirst) this.#begun.add(part.index)
    const choice = JSON.stringify({
      index: part.index,
      delta: isFirst ? { ...part.delta, role: 'assistant' } : part.delta,
      logprobs: part.logprobs ?? null,
      finish_reason: part.finishReason,
    })
    const print = part.fingerprint ? `,"system_fingerprint":${JSON.stringify(part.fingerprint)}` : ''
    return `${this.#start}${choice}${this.#end}${print}}\n\n`
  }

  end({ bill, reported }: CountedUsage): string {
    if (!this.#includesUsage) return ''
    const tier = bill.serviceTier ? `,"service_tier":${JSON.stringify(bill.serviceTier)}` : ''
    return `${this.#start}],"usage":${JSON.stringify(writeUsage(bill, reported))}${tier}}\n\n`
  }

  error(error: GatewayError): string {
    return errorFrame(error)
  }
}
