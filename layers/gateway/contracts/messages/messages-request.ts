import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody, ChatRequest } from '../../domain/chat/chat.ts'
import { badField } from '../../wire/basics/bad-field.ts'
import { integer, isObject } from '../../wire/basics/field-rules.ts'
import { type ReadFields, readFields } from '../../wire/basics/read-fields.ts'
import { refuseChatWords } from '../../wire/chat/chat-words.ts'
import { promptMedia } from '../../wire/chat/prompt-media.ts'
import type { JsonBody } from '../../wire/requests/read-body.ts'
import { innerMessages } from './inner-messages.ts'
import { heldTools, innerChoice, innerTools } from './inner-tools.ts'
import { MESSAGES_FIELDS } from './messages-fields.ts'
import { requireValid } from './require-valid.ts'

/** JsonObject that are translated. */
const RETOLD: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'stop_sequences', 'metadata', 'tools', 'tool_choice'],
  ...['output_config', 'cache_control', 'service_tier', 'speed'],
])

const CHAT_WORDS = ['n', 'functions', 'function_call']

export function readMessagesRequest(json: JsonBody): ChatRequest {
  const read = readMessages(json)
  requireValid(integer(1), read.body.max_tokens, 'max_tokens', read.raw)
  return toChatRequest(read, json)
}

/** The same request without the required `max_tokens`, because nothing is generated. */
export function readCountRequest(json: JsonBody): ChatRequest {
  return { ...toChatRequest(readMessages(json), json), stream: false }
}

function readMessages(json: JsonBody): ReadFields {
  const read = readFields(json, MESSAGES_FIELDS)
  refuseChatWords(read.raw, CHAT_WORDS)
  const { messages } = read.body
  if (Array.isArray(messages) && messages.length > 0) return read
  throw badField('messages', 'a non-empty array of messages', read.raw.messages, read.raw)
}

function toChatRequest({ body, ...read }: ReadFields, { bytes, namesCache = false }: JsonBody): ChatRequest {
  const messages = innerMessages(body)
  const inner = innerBody(body, messages)
  return {
    ...read,
    stream: body.stream === true,
    includeUsage: false,
    choices: 1,
    namedCap: body.max_tokens as number | undefined,
    messageCount: messages.length,
    toolCount: heldTools(body.tools) + (inner.response_format ? 1 : 0),
    media: withCited(promptMedia(messages), body.messages as JsonObject[]),
    asksCacheWrite: namesCache,
    bytes,
    body: inner,
    original: { contract: 'messages', body },
  }
}

/** Cited documents are numbered in pieces, in an unforeseeable number of tokens: they are held as files are. */
function withCited(media: ChatRequest['media'], messages: readonly JsonObject[]): ChatRequest['media'] {
  return messages.some(({ content }) => isCited(content)) ? { ...media, file: media.file + 1 } : media
}

function isCited(content: unknown): boolean {
  if (!Array.isArray(content)) return false
  return content.filter(isObject).some(({ citations, content: inside }) => {
    return (isObject(citations) && citations.enabled === true) || isCited(inside)
  })
}

/** The request in the format of Chat Completions. */
function innerBody(body: JsonObject, messages: readonly JsonObject[]): ChatBody {
  const { max_tokens, stop_sequences: stop, metadata, output_config: config } = body
  const user = isObject(metadata) ? metadata.user_id : undefined
  const tools = innerTools(body.tools)
  return {
    ...Object.fromEntries(Object.entries(body).filter(([field]) => !RETOLD.has(field))),
    model: body.model,
    messages,
    ...(max_tokens !== undefined && { max_tokens }),
    ...(stop !== undefined && { stop }),
    ...(user !== undefined && { user }),
    ...(tools.length > 0 && { tools, ...innerChoice(body.tool_choice) }),
    ...(isObject(config) && innerConfig(config)),
  }
}

function innerConfig({ effort, format }: JsonObject): JsonObject {
  return {
    // 'high' is Anthropic's default, and not every model of other providers accepts an effort.
    ...(effort && effort !== 'high' ? { reasoning_effort: effort === 'max' ? 'xhigh' : effort } : {}),
    ...(isObject(format) && { response_format: innerFormat(format) }),
  }
}

function innerFormat({ schema }: JsonObject): JsonObject {
  if (!isObject(schema)) throw badField('output_config.format.schema', 'an object', schema)
  return { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } }
}
