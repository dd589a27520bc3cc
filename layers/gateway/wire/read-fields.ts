import type { ChatBody, UnknownField } from '../domain/chat.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import { badField } from './bad-field.ts'
import { MODEL } from './chat-fields.ts'
import { describe, isObject } from './field-rules.ts'
import type { JsonBody } from './read-body.ts'
import { Reading } from './reading.ts'
import { buildFields, type KnownRows } from './shape.ts'

/** Several times as many as there are. */
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
    throw new GatewayError('invalid_request', `The request body must be a JSON object, but ${describe(value)}.`)
  }
  if (Object.keys(value).length > MOST_FIELDS) {
    throw new GatewayError('invalid_request', `The request body must have at most ${MOST_FIELDS} fields, and has more.`)
  }
  const reading = new Reading(callerId)
  reading.enter('model')
  const model = MODEL(value.model, reading)
  if (typeof model !== 'string') throw badField('model', 'the id of a model; GET /v1/models lists them', value.model)
  reading.leave()
  return { body: buildFields(value, rows, reading), model, unknown: reading.unknown, raw: value }
}
