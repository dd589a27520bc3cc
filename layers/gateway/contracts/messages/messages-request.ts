import { badRequest } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatBody, ChatRequest } from '../../domain/chat/chat.ts'
import { badField, isObject } from '../../wire/basics/field-rules.ts'
import { hostedIn, withoutEmptyTools } from '../../wire/chat/hosted-tools.ts'
import { promptMedia } from '../../wire/chat/prompt-media.ts'
import { type JsonBody, type ReadFields, readFields, refuseChatWords } from '../../wire/requests/read-body.ts'
import { readBetas } from './betas.ts'
import { clientFunction, clientKind } from './client-tools.ts'
import { providerRow } from './hosted-tools.ts'
import { innerMessages } from './inner-messages.ts'
import { MESSAGES_FIELDS } from './messages-fields.ts'

const TRANSLATED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'stop_sequences', 'metadata', 'tools', 'tool_choice'],
  ...['output_config', 'output_format', 'cache_control', 'service_tier', 'speed', 'context_management', 'compaction'],
  ...['mcp_servers'],
])

const CHAT_WORDS = ['n', 'functions', 'function_call']

export function readMessagesRequest(json: JsonBody): ChatRequest {
  const read = readMessages(json)
  if (read.body.max_tokens === undefined) throw badField('max_tokens', 'an integer of at least 1', undefined, read.raw)
  return toChatRequest(read)
}

/** The same request without the required `max_tokens`, because nothing is generated. */
export function readCountRequest(json: JsonBody): ChatRequest {
  return { ...toChatRequest(readMessages(json)), stream: false }
}

type ReadMessages = ReadFields & { readonly betas: readonly string[] }

function readMessages(json: JsonBody): ReadMessages {
  const { passed, left } = readBetas(json.betas)
  const fields = readFields(json, MESSAGES_FIELDS)
  const read = { ...fields, unknown: [...fields.unknown, ...left], betas: passed }
  refuseChatWords(read.raw, CHAT_WORDS)
  const { messages } = read.body
  if (Array.isArray(messages) && messages.length > 0) return read
  throw badField('messages', 'a non-empty array of messages', read.raw.messages, read.raw)
}

function toChatRequest({ body: sent, betas, ...read }: ReadMessages): ChatRequest {
  const body = withFormat(sent)
  const messages = innerMessages(body)
  const inner = innerBody(body, messages)
  const tools = (body.tools ?? []) as JsonObject[]
  requireOffered(body, read.raw)
  return {
    ...read,
    namedCap: body.max_tokens as number | undefined,
    messageCount: messages.length,
    bytes: read.bytes + (tools.length > 0 ? addedChars(tools, inner.tools as JsonObject[] | undefined) : 0),
    toolCount: tools.reduce((sum, tool) => sum + (isCustom(tool) ? 1 : HELD_AS), inner.response_format ? 1 : 0),
    media: withCited(promptMedia(messages), body.messages as JsonObject[]),
    hosted: hostedIn(body, providerRow, 'messages'),
    body: inner,
    original: { contract: 'messages', body: withoutEmptyTools(body), betas },
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

function innerBody(body: JsonObject, messages: readonly JsonObject[]): ChatBody {
  const { max_tokens, stop_sequences: stop, metadata, output_config: config } = body
  const user = isObject(metadata) ? metadata.user_id : undefined
  const own = (body.tools as JsonObject[] | undefined)?.filter((tool) => isCustom(tool) || clientKind(tool.type))
  const tools = own?.map(innerTool) ?? []
  return {
    ...Object.fromEntries(Object.entries(body).filter(([field]) => !TRANSLATED.has(field))),
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
    ...(isObject(format) && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: format.schema } },
    }),
  }
}

/** A tool that was left out when it was read can be no forced one. */
function requireOffered({ tools = [], tool_choice: choice }: JsonObject, raw: ChatBody): void {
  const { type, name } = isObject(choice) ? choice : {}
  const isNamed = (tool: unknown) => isObject(tool) && (type === 'any' || tool.name === name)
  const isForced = (type === 'any' || type === 'tool') && Array.isArray(raw.tools) && raw.tools.some(isNamed)
  if (!isForced || (tools as unknown[]).some(isNamed)) return
  throw badRequest('unsupported_parameter', "'tool_choice' forces a tool that is not offered here.", 'tool_choice')
}

/** Anthropic writes the definition of a tool of its own, which is longer than any that a caller writes by itself. */
const HELD_AS = 32

/** The older name of the format, where the newer one is not given. */
function withFormat({ output_format: format, ...body }: JsonObject): JsonObject {
  if (format === undefined) return body
  return { ...body, output_config: { format, ...(isObject(body.output_config) && body.output_config) } }
}

/** The characters by which tools that Anthropic defines are longer as functions. */
function addedChars(tools: readonly JsonObject[], inner: readonly JsonObject[] = []): number {
  return tools.every(isCustom) ? 0 : JSON.stringify(inner).length
}

/** A tool as a function. Its examples are text, since no other API format has them. */
function innerTool(tool: JsonObject): JsonObject {
  const { name, description: about = '', input_schema: parameters, strict, cache_control } = tool
  const examples = Array.isArray(tool.input_examples) ? tool.input_examples : []
  const description = [about, ...examples.map((example) => `Example: ${JSON.stringify(example)}`)].filter(Boolean)
  return {
    type: 'function',
    function: clientFunction(tool) ?? {
      name,
      ...(description.length > 0 && { description: description.join('\n') }),
      parameters,
      ...(strict === true && { strict }),
    },
    ...(cache_control !== undefined && { cache_control }),
  }
}

function isCustom({ type = 'custom' }: JsonObject): boolean {
  return type === 'custom'
}

const CHOICES = { auto: 'auto', any: 'required', none: 'none', tool: 'tool' }

function innerChoice(choice: unknown): JsonObject {
  if (!isObject(choice)) return {}
  const type = choice.type as keyof typeof CHOICES | undefined
  if (type === undefined) throw badField('tool_choice.type', ['auto', 'any', 'tool', 'none'], undefined)
  if (type === 'tool' && !choice.name) throw badField('tool_choice.name', 'a non-empty string', choice.name)
  return {
    tool_choice: type === 'tool' ? { type: 'function', function: { name: choice.name } } : CHOICES[type],
    ...(choice.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  }
}
