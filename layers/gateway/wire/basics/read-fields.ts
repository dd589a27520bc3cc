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
  /** The known fields, built from their known parts. */
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
