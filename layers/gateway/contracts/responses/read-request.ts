import type { ChatBody, ChatRequest } from '../../domain/chat.ts'
import { GatewayError } from '../../domain/gateway-error.ts'
import {
  arrayOf,
  boolean,
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
import { badField, notTaken, requireFields } from './bad-field.ts'
import { OWN_WORDS } from './own-words.ts'
import { readInput } from './read-input.ts'
import { readToolChoice, readTools } from './read-tools.ts'

type Fields = Readonly<Record<string, unknown>>

const oneOf =
  (...words: readonly string[]): Rule =>
  (value) =>
    words.includes(value as string) ? undefined : `one of ${words.join(', ')}`

/** A wish that needs a store, and what to do without one. */
const stored =
  (instead: string): Rule =>
  () =>
    `left out: this gateway stores nothing. ${instead}`

const INCLUDABLE = [
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
]

const RULES: Readonly<Record<string, Rule>> = {
  instructions: string,
  max_output_tokens: integer(1),
  max_tool_calls: integer(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  top_logprobs: integer(0, 20),
  stream: boolean,
  stream_options: object,
  store: boolean,
  parallel_tool_calls: boolean,
  tool_choice: either(string, object),
  text: object,
  reasoning: object,
  include: arrayOf(oneOf(...INCLUDABLE), 100),
  truncation: oneOf('auto', 'disabled'),
  metadata: object,
  client_metadata: object,
  user: string,
  safety_identifier: string,
  prompt_cache_key: string,
  prompt_cache_retention: string,
  service_tier: string,
  background: (value) =>
    value === false ? undefined : "false: this gateway stores no answers to be fetched later. Use 'stream': true",
  previous_response_id: stored("Send the earlier items in 'input', as clients do with 'store': false"),
  conversation: stored("Send the conversation's items in 'input'"),
  prompt: stored("Send the prompt's own text in 'instructions' and 'input'"),
}

/** What becomes of these is said below; the answer or nobody is told of the others. */
const READ = new Set([...Object.keys(RULES), 'model', 'input', 'tools'])
const PASSED = [
  'temperature',
  'top_p',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
]

/** A request to create a response, in the words of Chat Completions. */
export function readRequest({ value, bytes, namesCache = false }: JsonBody): ChatRequest {
  if (!isObject(value)) throw badField(undefined, 'The request body must be a JSON object', value)
  if (typeof value.model !== 'string' || value.model === '') {
    throw badField('model', "'model' must be the id of a model; GET /v1/models lists them", value.model)
  }
  requireFields(value, RULES)
  const messages = readInput(value.input, value.instructions)
  const { tools, addedChars } = readTools(value.tools)
  const choice = readToolChoice(value.tool_choice, tools.length)
  const format = readFormat(value.text)
  const stream = value.stream === true
  return {
    model: value.model,
    stream,
    includeUsage: true,
    choices: 1,
    namedCap: typeof value.max_output_tokens === 'number' ? value.max_output_tokens : undefined,
    capFields: [],
    // Items of one turn are one message to some providers and several to others.
    messageCount: messages.length + (Array.isArray(value.input) ? value.input.length : 0),
    toolCount: tools.length + (format?.type === 'json_schema' ? 1 : 0),
    media: promptMedia(messages as Record<string, unknown>[]),
    asksCacheWrite: namesCache,
    bytes: bytes + addedChars,
    body: {
      ...otherFields(value),
      model: value.model,
      messages,
      stream,
      ...copied(value, PASSED),
      ...(tools.length > 0 && { tools, ...copied(value, ['parallel_tool_calls']) }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(format && { response_format: format }),
      ...(isObject(value.text) && isText(value.text.verbosity) && { verbosity: value.text.verbosity }),
      ...readEffort(value.reasoning),
      ...readLogprobs(value),
    },
    original: { contract: 'responses', body: value },
  }
}

/** Fields that this contract does not have may still be a provider's: it is asked as it is for Chat Completions. */
function otherFields(body: Fields): ChatBody {
  const others = Object.entries(body).filter(([name, value]) => !READ.has(name) && value !== null)
  for (const [name] of others) {
    const own = OWN_WORDS.get(name)
    if (name === 'n') throw notTaken(name, 'is not taken: a request has one answer')
    if (own) throw otherWord(name, own)
  }
  return Object.fromEntries(others)
}

function otherWord(name: string, own: string): GatewayError {
  const message = `There is no '${name}' here: it is a field of /v1/chat/completions. Use '${own}'.`
  return new GatewayError('invalid_request', message, { param: own, code: 'unsupported_parameter' })
}

function copied(body: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => body[name] !== undefined && body[name] !== null).map((name) => [name, body[name]]),
  )
}

function readFormat(text: unknown): Fields | undefined {
  if (!isObject(text)) return undefined
  requireFields(text, { format: object, verbosity: string }, 'text.')
  const { format } = text
  if (!isObject(format) || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type !== 'json_schema') {
    throw badField('text.format.type', "'text.format.type' must be text, json_object or json_schema", format.type)
  }
  const { name, description, schema, strict } = format
  if (!isText(name)) throw badField('text.format.name', "'text.format.name' must be a string that is not empty", name)
  if (!isObject(schema)) throw badField('text.format.schema', "'text.format.schema' must be an object", schema)
  requireFields(format, { description: string, strict: boolean }, 'text.format.')
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(typeof description === 'string' && { description }),
      schema,
      ...(typeof strict === 'boolean' && { strict }),
    },
  }
}

/** Beside these there are ways to think at other prices. */
const THINKING = new Set(['effort', 'summary', 'generate_summary'])

function readEffort(reasoning: unknown): Fields {
  if (!isObject(reasoning)) return {}
  requireFields(reasoning, { effort: string, summary: string, generate_summary: string }, 'reasoning.')
  for (const [name, value] of Object.entries(reasoning)) {
    if (THINKING.has(name) || value === null) continue
    throw notTaken(`reasoning.${name}`.slice(0, 100), 'is not passed on, because it may change what the provider bills')
  }
  return isText(reasoning.effort) ? { reasoning_effort: reasoning.effort } : {}
}

export function wantsLogprobs({ include, top_logprobs: top }: Fields): boolean {
  const isIncluded = Array.isArray(include) && include.includes('message.output_text.logprobs')
  return isIncluded || (typeof top === 'number' && top > 0)
}

function readLogprobs(body: Fields): Fields {
  return wantsLogprobs(body) ? { logprobs: true, ...copied(body, ['top_logprobs']) } : {}
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
