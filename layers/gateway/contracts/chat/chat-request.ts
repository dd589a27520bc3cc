import type { CapField, ChatRequest } from '../../domain/chat.ts'
import { GatewayError } from '../../domain/gateway-error.ts'
import {
  arrayOf,
  boolean,
  describe,
  either,
  integer,
  isObject,
  number,
  object,
  type Rule,
  string,
} from '../../wire/field-rules.ts'
import { promptMedia } from '../../wire/prompt-media.ts'
import type { JsonBody } from '../../wire/read-body.ts'

/** The fields whose meaning we know. Everything else that OpenAI allows travels on as it came. */
const OPTIONAL: ReadonlyMap<string, Rule> = new Map(
  Object.entries({
    max_tokens: integer(1),
    max_completion_tokens: integer(1),
    temperature: number(0, 2),
    top_p: number(0, 1),
    n: integer(1, 128),
    stream: boolean,
    stream_options: object,
    stop: either(string, arrayOf(string)),
    presence_penalty: number(-2, 2),
    frequency_penalty: number(-2, 2),
    seed: integer(Number.MIN_SAFE_INTEGER),
    logprobs: boolean,
    top_logprobs: integer(0, 20),
    logit_bias: object,
    tools: arrayOf(object, 1024),
    tool_choice: either(string, object),
    parallel_tool_calls: boolean,
    response_format: object,
    user: string,
    metadata: object,
  }),
)

const CAP_FIELDS: readonly CapField[] = ['max_tokens', 'max_completion_tokens']
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']
const MAX_MESSAGES = 10_000

type Fields = Record<string, unknown>

export function parseChatRequest({ value, bytes, namesCache = false }: JsonBody): ChatRequest {
  if (!isObject(value)) throw bad(undefined, 'The request body must be a JSON object', value)
  if (typeof value.model !== 'string' || value.model === '') {
    throw bad('model', "'model' must be the id of a model; GET /v1/models lists them", value.model)
  }
  for (const name in value) {
    const field = value[name]
    const wanted = field === null ? undefined : OPTIONAL.get(name)?.(field)
    if (wanted) throw bad(name, `'${name}' must be ${wanted}`, field)
  }
  const stream = value.stream === true
  const messages = parseMessages(value.messages)
  const caps = CAP_FIELDS.filter((field) => typeof value[field] === 'number')
  return {
    model: value.model,
    stream,
    includeUsage: parseIncludeUsage(value.stream_options, stream),
    choices: typeof value.n === 'number' ? value.n : 1,
    namedCap: caps.length > 0 ? Math.max(...caps.map((field) => value[field] as number)) : undefined,
    capFields: caps,
    messageCount: messages.length,
    toolCount: lengthOf(value.tools) + lengthOf(value.functions) + (hasSchema(value.response_format) ? 1 : 0),
    media: promptMedia(messages),
    asksCacheWrite: namesCache,
    bytes,
    body: value,
  }
}

function parseIncludeUsage(options: unknown, stream: boolean): boolean {
  if (!isObject(options)) return false
  if (!stream) throw bad('stream_options', "'stream_options' is only allowed when 'stream' is true", options)
  const flag = options.include_usage
  if (flag !== undefined && flag !== null && typeof flag !== 'boolean') {
    throw bad('stream_options.include_usage', "'stream_options.include_usage' must be true or false", flag)
  }
  return flag === true
}

function parseMessages(messages: unknown): Fields[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw bad('messages', "'messages' must be a non-empty array of messages", messages)
  }
  if (messages.length > MAX_MESSAGES) {
    throw bad('messages', `'messages' must have at most ${MAX_MESSAGES} elements`, messages)
  }
  messages.forEach(requireMessage)
  return messages
}

function requireMessage(message: unknown, index: number): void {
  const path = `messages[${index}]`
  if (!isObject(message)) throw bad(path, `'${path}' must be an object with 'role' and 'content'`, message)
  if (typeof message.role !== 'string' || !ROLES.includes(message.role)) {
    throw bad(`${path}.role`, `'${path}.role' must be one of ${ROLES.join(', ')}`, message.role)
  }
  requireContent(message.content, `${path}.content`, message.role === 'assistant' || message.role === 'function')
}

/** An assistant's message may have tool calls or a refusal in place of content. */
function requireContent(content: unknown, path: string, optional: boolean): void {
  if (typeof content === 'string') return
  if (optional && (content === undefined || content === null)) return
  if (!Array.isArray(content)) throw bad(path, `'${path}' must be a string or an array of content parts`, content)
  content.forEach((part, index) => {
    const at = `${path}[${index}]`
    if (!isObject(part) || typeof part.type !== 'string') {
      throw bad(at, `'${at}' must be a content part: an object with a 'type'`, part)
    }
    if (part.type === 'text' && typeof part.text !== 'string') {
      throw bad(`${at}.text`, `'${at}.text' must be a string`, part.text)
    }
  })
}

/** A schema for the answer makes a provider add instructions, as a tool does. */
function hasSchema(format: unknown): boolean {
  return isObject(format) && format.type === 'json_schema'
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

function bad(param: string | undefined, wanted: string, got: unknown): GatewayError {
  return new GatewayError('invalid_request', `${wanted}, but ${describe(got)}.`, param ? { param } : {})
}
