import { STATUS_CODES } from 'node:http'
import type { z } from 'zod'
import {
  ERROR_KINDS,
  ERRORS,
  type ErrorKind,
  REQUEST_CODES,
  type RequestCode,
} from '../../../layers/gateway/domain/basics/gateway-error.ts'
import type { HttpRoute } from '../../../layers/gateway/endpoints.ts'
import { MessagesError } from './contracts/answers.ts'
import { ERROR_WORDS } from './error-words.ts'
import { ALWAYS, HEADERS, headersOf, LOWERED, OF_MODELS } from './headers.ts'
import { type Json, jsonContent } from './json-schema.ts'
import { errorsOf } from './shapes/errors.ts'

// The refusals of the public API, made of the table of errors.

type SchemaOf = (schema: z.ZodType) => Json

const STATUSES = [...new Set(ERROR_KINDS.map((kind) => ERRORS[kind].status))].sort((a, b) => a - b)
const kindsOf = (status: number) => ERROR_KINDS.filter((kind) => ERRORS[kind].status === status)

/** Of errors whose row has no advice to retry, because it depends on the moment. */
const ADVICE: Readonly<Partial<Record<ErrorKind, 'Retry-After' | 'x-should-retry'>>> = {
  rate_limit_exceeded: 'Retry-After',
  upstream_rate_limited: 'Retry-After',
  upstream_timeout: 'x-should-retry',
}
/** Found before the request is priced. */
const EARLY: readonly number[] = [401, 403, 404, 405, 415]

export function refusalAnswers(schemaOf: SchemaOf): Json {
  const answers = STATUSES.map((status) => [
    nameOf(status),
    {
      description: wordsOf(status),
      headers: headersOf(headerNames(status)),
      content: jsonContent(schemaOf(errorsOf(status, kindsOf(status)))),
    },
  ])
  const ofMessages = {
    description: 'A refusal with the statuses and reasons of chat completions.',
    headers: headersOf(Object.keys(HEADERS).filter((name) => !name.endsWith('Replayed'))),
    content: jsonContent(schemaOf(MessagesError)),
  }
  return { ...Object.fromEntries(answers), MessagesError: ofMessages }
}

/** By status, the refusals of an endpoint. A wrong method has no operation of its own. */
export function refusalsOf({ path, endpoint }: HttpRoute, hasQuery: boolean): Json {
  const free = [401, 403, 429, 500, 503, ...(path.includes('{') ? [404] : []), ...(hasQuery ? [400] : [])]
  if (endpoint.quotes) free.push(400, 404, 413, 415)
  const statuses = endpoint.contract ? STATUSES.filter((status) => status !== 405) : free
  const named = (status: number) => (endpoint.contract === 'messages' ? 'MessagesError' : nameOf(status))
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${named(status)}` }]))
}

function nameOf(status: number): string {
  return (STATUS_CODES[status] ?? `Status${status}`).replaceAll(' ', '')
}

function wordsOf(status: number): string {
  const found: readonly RequestCode[] = status === ERRORS.invalid_request.status ? REQUEST_CODES : []
  const codes = [...found, ...kindsOf(status)]
  return codes.map((code) => `\`${code}\`: ${ERROR_WORDS[code]}`).join('\n\n')
}

function headerNames(status: number): string[] {
  const kinds = kindsOf(status)
  const advice = kinds.flatMap((kind) => ADVICE[kind] ?? adviceOf(ERRORS[kind].retry) ?? [])
  const asksModels = kinds.some((kind) => kind.startsWith('upstream_') || kind === 'request_too_large')
  return [
    ...ALWAYS,
    ...(asksModels ? OF_MODELS : []),
    ...(EARLY.includes(status) ? [] : [LOWERED]),
    ...new Set(advice),
    ...(kinds.includes('method_not_allowed') ? ['Allow'] : []),
  ]
}

function adviceOf(retry: number | 'never' | undefined): 'Retry-After' | 'x-should-retry' | undefined {
  if (retry === undefined) return undefined
  return retry === 'never' ? 'x-should-retry' : 'Retry-After'
}
