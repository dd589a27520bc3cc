import type { ChatRequest } from '../../domain/chat.ts'
import { GatewayError } from '../../domain/gateway-error.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { badField } from '../../wire/bad-field.ts'
import { describe, integer, isObject, string } from '../../wire/field-rules.ts'
import { promptMedia } from '../../wire/prompt-media.ts'
import type { JsonBody } from '../../wire/read-body.ts'
import { readPrompts } from '../../wire/read-prompts.ts'

export const MAX_INPUTS = 2_048
const FORMATS = ['float', 'base64'] as const
const DIMENSIONS = integer(1)

export function readEmbeddingRequest({ value, bytes }: JsonBody): ChatRequest {
  if (!isObject(value)) {
    throw new GatewayError('invalid_request', `The request body must be a JSON object, but ${describe(value)}.`)
  }
  const { model, dimensions, encoding_format: format, user } = value
  if (typeof model !== 'string' || model === '') {
    throw badField('model', 'the id of a model; GET /v1/models lists them', model)
  }
  const inputs = readInputs(value.input)
  const wanted = isGiven(dimensions) && DIMENSIONS(dimensions)
  if (wanted) throw badField('dimensions', wanted, dimensions)
  if (isGiven(format) && !FORMATS.some((known) => known === format)) {
    throw badField('encoding_format', "'float' or 'base64'", format)
  }
  if (isGiven(user) && string(user)) throw badField('user', 'a string', user)
  return {
    model,
    stream: false,
    includeUsage: false,
    choices: 1,
    namedCap: 0,
    capFields: [],
    messageCount: inputs.length,
    toolCount: 0,
    media: promptMedia([]),
    asksCacheWrite: false,
    bytes,
    body: value,
    embedding: {
      inputs,
      dimensions: isGiven(dimensions) ? (dimensions as number) : undefined,
      format: format === 'base64' ? 'base64' : 'float',
    },
  }
}

function readInputs(input: unknown): readonly Prompt[] {
  const inputs = readPrompts('input', input, MAX_INPUTS)
  const empty = inputs.indexOf('')
  if (empty < 0) return inputs
  throw badField(Array.isArray(input) ? `input[${empty}]` : 'input', 'a text that is not empty', '')
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
