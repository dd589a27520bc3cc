import type { ChatRequest } from '../../domain/chat/chat.ts'
import { knownRows, text } from '../../wire/basics/shape.ts'
import type { JsonBody } from '../../wire/requests/read-body.ts'
import { readRequest } from './read-request.ts'
import { RESPONSES_FIELDS } from './responses-fields.ts'

/** A count also takes a field that changes the instructions, and needs no input. */
export const COUNT_FIELDS = knownRows({ ...Object.fromEntries(RESPONSES_FIELDS.shapes), personality: text })

export function readCount(json: JsonBody): ChatRequest {
  const { body, ...read } = readRequest(json, COUNT_FIELDS, true)
  const { personality: _, ...inner } = body
  return { ...read, body: { ...inner, stream: false }, stream: false }
}

export function countBody(tokens: number): object {
  return { object: 'response.input_tokens', input_tokens: tokens }
}
