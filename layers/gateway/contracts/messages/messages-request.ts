import { hash } from 'node:crypto'
import type { ChatBody, ChatRequest } from '../../domain/chat.ts'
import { GatewayError } from '../../domain/gateway-error.ts'
import { refuseChatWords } from '../../wire/chat-words.ts'
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
import { complaint, name, oneOf, require } from './complaint.ts'
import { innerMessages } from './inner-messages.ts'
import { heldTools, innerChoice, innerTools } from './inner-tools.ts'

/** The fields whose meaning we know. Others travel on under their names, for the dialects to take or refuse. */
const OPTIONAL: Readonly<Record<string, Rule>> = {
  stream: boolean,
  system: either(string, arrayOf(object)),
  temperature: number(0, 1),
  top_p: number(0, 1),
  top_k: integer(0),
  stop_sequences: arrayOf(string),
  metadata: object,
  tools: arrayOf(object, 1024),
  tool_choice: object,
  thinking: object,
  output_config: object,
  cache_control: object,
}

/**
 * Fields that are told in other words, or not at all: hints without which an answer is still the one that was asked for.
 */
const RETOLD: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'stop_sequences', 'metadata', 'tools', 'tool_choice'],
  ...['output_config', 'cache_control', 'context_management', 'diagnostics'],
])

const STANDARD_TIERS: ReadonlySet<unknown> = new Set(['auto', 'standard_only'])
const CHAT_WORDS = ['n', 'functions', 'function_call']
const MAX_MESSAGES = 10_000
/** Ten times as many as there are. Copying more takes long. */
const MAX_FIELDS = 200

type Fields = Readonly<Record<string, unknown>>

export function readMessagesRequest(json: JsonBody): ChatRequest {
  const body = readFields(json)
  require(integer(1), body.max_tokens, 'max_tokens')
  return toChatRequest(body, json)
}

/** The same request without a need for `max_tokens`, as nothing is generated. */
export function readCountRequest(json: JsonBody): ChatRequest {
  const body = readFields(json)
  if (body.max_tokens !== undefined) require(integer(1), body.max_tokens, 'max_tokens')
  return { ...toChatRequest(body, json), stream: false }
}

/** The body's fields, checked one by one. A field that is null counts as absent. */
function readFields({ value }: JsonBody): Fields {
  if (!isObject(value)) {
    throw new GatewayError('invalid_request', `The request body must be a JSON object, but ${describe(value)}.`)
  }
  if (Object.keys(value).length > MAX_FIELDS) {
    throw new GatewayError('invalid_request', `The request body must have at most ${MAX_FIELDS} fields, and has more.`)
  }
  if (name(value.model)) throw complaint('model', 'the id of a model; GET /v1/models lists them', value.model)
  const fields = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
  for (const [field, rule] of Object.entries(OPTIONAL)) {
    if (fields[field] !== undefined) require(rule, fields[field], field)
  }
  refuseChatWords(fields, CHAT_WORDS)
  const { messages } = fields
  if (!Array.isArray(messages) || messages.length === 0) {
    throw complaint('messages', 'a non-empty array of messages', messages)
  }
  if (messages.length > MAX_MESSAGES) throw complaint('messages', `at most ${MAX_MESSAGES} messages`, messages)
  return fields
}

function toChatRequest(body: Fields, { bytes, namesCache = false }: JsonBody): ChatRequest {
  const messages = innerMessages(body)
  const inner = innerBody(body, messages)
  return {
    model: body.model as string,
    stream: body.stream === true,
    includeUsage: false,
    choices: 1,
    namedCap: body.max_tokens as number | undefined,
    capFields: ['max_tokens'],
    messageCount: messages.length,
    toolCount: heldTools(body.tools) + (inner.response_format ? 1 : 0),
    media: withCited(promptMedia(messages), body.messages as Fields[]),
    asksCacheWrite: namesCache,
    bytes,
    body: inner,
    original: { contract: 'messages', body },
  }
}

/** What is to be cited is cut into pieces and numbered, in tokens that nobody can foresee: it is held as a file is. */
function withCited(media: ChatRequest['media'], messages: readonly Fields[]): ChatRequest['media'] {
  return messages.some(({ content }) => isCited(content)) ? { ...media, file: media.file + 1 } : media
}

function isCited(content: unknown): boolean {
  if (!Array.isArray(content)) return false
  return content.filter(isObject).some(({ citations, content: inside }) => {
    return (isObject(citations) && citations.enabled === true) || isCited(inside)
  })
}

/** The request in Chat Completions' words. */
function innerBody(body: Fields, messages: readonly Fields[]): ChatBody {
  const { max_tokens, stop_sequences: stop, metadata, service_tier, output_config: config } = body
  const user = isObject(metadata) ? (metadata.user_id ?? undefined) : undefined
  if (user !== undefined) require(string, user, 'metadata.user_id')
  const tools = innerTools(body.tools)
  const rest = Object.entries(body).filter(
    ([field]) => !RETOLD.has(field) && !(field === 'service_tier' && STANDARD_TIERS.has(service_tier)),
  )
  return {
    ...Object.fromEntries(rest),
    model: body.model,
    messages,
    ...(max_tokens !== undefined && { max_tokens }),
    ...(stop !== undefined && { stop }),
    ...(typeof user === 'string' && { user: user.length > LONGEST_USER ? hash('sha256', user) : user }),
    ...(tools.length > 0 && { tools, ...innerChoice(body.tool_choice) }),
    ...(isObject(config) && innerConfig(config)),
  }
}

/** OpenAI refuses a longer name of a user. */
const LONGEST_USER = 64

const OUTPUT_CONFIG = new Set(['effort', 'format'])
const FORMAT = 'output_config.format'

function innerConfig(config: Fields): Fields {
  const { effort, format } = config
  const unknown = Object.keys(config).find((field) => !OUTPUT_CONFIG.has(field) && config[field] !== null)
  if (unknown !== undefined) {
    throw new GatewayError('invalid_request', "'output_config' may have 'effort' and 'format' here, and has another.", {
      param: 'output_config',
    })
  }
  if (effort) require(oneOf('low', 'medium', 'high', 'xhigh', 'max'), effort, 'output_config.effort')
  if (format) require(object, format, FORMAT)
  return {
    // 'high' is Anthropic's word for no wish, and not every model of other providers takes one.
    ...(effort && effort !== 'high' ? { reasoning_effort: effort === 'max' ? 'xhigh' : effort } : {}),
    ...(isObject(format) && { response_format: innerFormat(format) }),
  }
}

function innerFormat({ type, schema }: Fields): Fields {
  require(oneOf('json_schema'), type, `${FORMAT}.type`)
  require(object, schema, `${FORMAT}.schema`)
  return { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } }
}
