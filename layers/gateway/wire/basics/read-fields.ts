import { badRequest } from '../../domain/basics/gateway-error.ts'
import type { ChatBody, UnknownField } from '../../domain/chat/chat.ts'
import { MODEL_WANTED } from '../chat/chat-fields.ts'
import type { JsonBody } from '../requests/read-body.ts'
import { badField } from './bad-field.ts'
import { describe, isObject } from './field-rules.ts'
import { Reading } from './reading.ts'
import { buildFields, type KnownRows } from './shape.ts'

/** Several times as many as there are known fields. */
const MOST_FIELDS = 400

export type ReadFields = {
  readonly body: ChatBody
  readonly model: string
  readonly unknown: readonly UnknownField[]
  readonly raw: ChatBody
}

/** The fields of a request that asks a model, by the table of its contract. Throws a GatewayError. */
export function readFields({ value, callerId }: JsonBody, rows: KnownRows): ReadFields {
  if (!isObject(value)) {
    const twice = typeof value === 'string' && /^\s*\{/.test(value) ? ' It was made JSON twice: send it as it is.' : ''
    throw badRequest('invalid_body', `The request body must be a JSON object, but ${describe(value)}.${twice}`)
  }
  if (Object.keys(value).length > MOST_FIELDS) {
    throw badRequest('invalid_body', `The request body must have at most ${MOST_FIELDS} fields, and has more.`)
  }
  const { model } = value
  if (typeof model !== 'string' || model === '') throw badField('model', MODEL_WANTED, model, value)
  const reading = new Reading(callerId)
  return { body: buildFields(value, rows, reading), model, unknown: reading.unknown, raw: value }
}

/** Refuses fields by which chat holds more, such as `n`: the inner form would carry them to a provider. */
export function refuseChatWords(body: Readonly<Record<string, unknown>>, words: readonly string[]): void {
  const word = words.find((name) => body[name] !== undefined && body[name] !== null)
  if (word === undefined) return
  throw badRequest('unknown_parameter', `There is no '${word}' here: it is a field of /v1/chat/completions.`, word)
}

export function readIncludeUsage(options: unknown, stream: boolean): boolean {
  if (!isObject(options)) return false
  if (stream) return options.include_usage === true
  throw badRequest('invalid_value', "'stream_options' is only allowed when 'stream' is true.", 'stream_options')
}
