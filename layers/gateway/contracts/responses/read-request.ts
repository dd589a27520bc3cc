import { badRequest } from '../../domain/basics/gateway-error.ts'
import type { JsonObject } from '../../domain/basics/json-object.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { copied, isObject, isText } from '../../wire/basics/field-rules.ts'
import { hostedIn, withoutEmptyTools } from '../../wire/chat/hosted-tools.ts'
import { promptMedia } from '../../wire/chat/prompt-media.ts'
import { type JsonBody, readFields } from '../../wire/requests/read-body.ts'
import { providerRow } from './hosted-tools.ts'
import { notTaken, OWN_WORDS } from './own-words.ts'
import { readInput } from './read-input.ts'
import { readToolChoice, readTools } from './read-tools.ts'
import { OWN_FIELDS, RESPONSES_FIELDS } from './responses-fields.ts'
import { withSummaries } from './summaries.ts'

export function readRequest(json: JsonBody, rows = RESPONSES_FIELDS, mayBeEmpty = false): ChatRequest {
  refuseOtherWords(json.value)
  const { body: fields, ...read } = readFields(json, rows)
  const { input, gained } = withSummaries(fields.input)
  const body: JsonObject = { ...fields, ...(input !== undefined && { input }) }
  const { messages, addedChars, images } = readInput(body, read.raw, mayBeEmpty)
  const { tools, count, addedChars: addedByTools } = readTools(body)
  const hosted = hostedIn(body, providerRow, 'responses')
  const choice = readToolChoice(body.tool_choice, tools.length, hosted)
  const format = readFormat(body.text)
  return {
    ...read,
    includeUsage: true,
    namedCap: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : undefined,
    // Items of one turn are one message to some providers and several to others.
    messageCount: messages.length + (Array.isArray(body.input) ? body.input.length : 0),
    toolCount: count + hosted.length + (format?.type === 'json_schema' ? 1 : 0),
    media: withImages(promptMedia(messages), images),
    hosted,
    bytes: json.bytes + addedChars + addedByTools + gained,
    body: {
      ...Object.fromEntries(Object.entries(body).filter(([name]) => !OWN_FIELDS.has(name))),
      model: read.model,
      messages,
      stream: read.stream,
      ...(tools.length > 0 && { tools, ...copied(body, ['parallel_tool_calls']) }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(format && { response_format: format }),
      ...(isObject(body.text) && isText(body.text.verbosity) && { verbosity: body.text.verbosity }),
      ...(isObject(body.reasoning) && isText(body.reasoning.effort) && { reasoning_effort: body.reasoning.effort }),
      ...(wantsLogprobs(body) && { logprobs: true, ...copied(body, ['top_logprobs']) }),
    },
    original: { contract: 'responses', body: withoutEmptyTools(body) },
  }
}

/** Images that the provider drew in earlier turns are part of the prompt. */
function withImages(media: ChatRequest['media'], images: number): ChatRequest['media'] {
  return { ...media, image: media.image + images }
}

/** Fields of Chat Completions that have another name here, or by which chat holds more. */
function refuseOtherWords(body: unknown): void {
  if (!isObject(body)) return
  for (const [name, own] of OWN_WORDS) {
    const message = `There is no '${name}' here: it is a field of /v1/chat/completions. Use '${own}'.`
    if (isGiven(body[name])) throw badRequest('unsupported_parameter', message, own)
  }
  if (isGiven(body.n)) throw notTaken('n', 'is not taken: a request has one answer')
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function readFormat(text: unknown): JsonObject | undefined {
  const format = isObject(text) ? text.format : undefined
  if (!isObject(format) || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  return { type: 'json_schema', json_schema: copied(format, ['name', 'description', 'schema', 'strict']) }
}

export function wantsLogprobs({ include, top_logprobs: top }: JsonObject): boolean {
  const isIncluded = Array.isArray(include) && include.includes('message.output_text.logprobs')
  return isIncluded || (typeof top === 'number' && top > 0)
}
