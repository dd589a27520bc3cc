import { z } from 'zod'
import { kind, orNull, text } from '../../layers/admin/api/shapes/parts.ts'
import { messageError } from '../../layers/gateway/contracts/messages/message-head.ts'
import { ERROR_KINDS, ERRORS, type ErrorKind, GatewayError } from '../../layers/gateway/domain/basics/gateway-error.ts'
import type { HttpRoute } from '../../layers/gateway/endpoints.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { ownNames } from '../../layers/gateway/wire/requests/headers.ts'
import { rowsOf, sentence, wordsOf } from './client-guide.ts'
import { type Json, jsonContent, refTo, statusName } from './json-schema.ts'

const { cost, provider, attempts, dropped, lowered, replayed } = ownNames(BRAND.headerPrefix)

const described = (head: string) =>
  Object.entries(wordsOf(head)).map(([name, description]) => ({ name, description, schema: { type: 'string' } }))

export const PARAMETERS = described('| request header | meaning |').map((header) => ({ ...header, in: 'header' }))

export const HEADERS: Readonly<Record<string, Json>> = Object.fromEntries(
  described('| response header | meaning | present |').map(({ name, ...header }) => [
    name,
    { ...(header.description.endsWith(' always.') && { required: true }), ...header },
  ]),
)
const ALWAYS = ['X-Request-Id', cost, ...Object.keys(HEADERS).filter((name) => /^(x-)?ratelimit-/i.test(name))]
/** On answers for which a model was asked. */
const OF_MODELS = [provider, attempts, dropped, lowered]

const headersOf = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

export function answerHeaders({ contract, countsOnly }: HttpRoute['endpoint']): Json {
  return headersOf([
    ...ALWAYS,
    ...(contract === 'messages' ? ['Request-Id'] : []),
    ...(contract && !countsOnly ? OF_MODELS : []),
    ...(contract ? [replayed] : []),
  ])
}

const refusal = z.object({
  message: text('The reason, for people, and the remedy.'),
  type: text('The kind of the error, or the upstream’s own.'),
  param: orNull(text('The field that is at fault, if there is one.')),
  code: text('The reason, for programs: those of each status are in its description. It may be the upstream’s own.'),
})
export const ErrorBody = z
  .object({ error: refusal.describe('The refusal.') })
  .describe('Every error has this shape, but those of Messages.')

const messageType = (kind: ErrorKind) =>
  (messageError(new GatewayError(kind, 'why'), '') as { error: { type: string } }).error.type
const refusedMessage = z.object({
  type: z.enum([...new Set(ERROR_KINDS.map(messageType))]).describe('The kind of the error, in Anthropic’s words.'),
  message: text('The reason, for people.'),
})
export const MessagesError = z
  .object({ type: kind('error'), error: refusedMessage.describe('The refusal.'), request_id: text('Its id.') })
  .describe('An error in the shape of Anthropic’s.')

const STATUSES = [...new Set(ERROR_KINDS.map((kind) => ERRORS[kind].status))].sort((a, b) => a - b)
const CODES = rowsOf('| status | `code` | when |')
const WRONG_METHOD = ERRORS.method_not_allowed.status
/** Found before the request is priced. */
const EARLY: readonly number[] = [401, 403, 404, WRONG_METHOD, 415]

export function refusalAnswers(): Json {
  const answers = STATUSES.map((status) => [
    statusName(status),
    {
      description: CODES.filter(([of]) => of === String(status))
        .map(([, codes, when = '']) => `${codes}: ${sentence(when)}`)
        .join('\n\n'),
      headers: headersOf([
        ...ALWAYS,
        ...(EARLY.includes(status) ? [] : [...OF_MODELS, 'Retry-After', 'x-should-retry']),
        ...(status === WRONG_METHOD ? ['Allow'] : []),
      ]),
      content: jsonContent(refTo('Error')),
    },
  ])
  const ofMessages = {
    description: 'A refusal with the statuses and reasons of chat completions.',
    headers: headersOf(Object.keys(HEADERS).filter((name) => name !== replayed)),
    content: jsonContent(refTo('MessagesError')),
  }
  return { ...Object.fromEntries(answers), MessagesError: ofMessages }
}

/** The refusals of an endpoint by status. A wrong method has no operation of its own. */
export function refusalsOf({ path, endpoint }: HttpRoute): Json {
  const free = [401, 403, 429, 500, 503, ...(path.includes('{') ? [404] : []), ...(path === '/v1/usage' ? [400] : [])]
  if (endpoint.quotes) free.push(400, 404, 413, 415)
  const statuses = endpoint.contract ? STATUSES.filter((status) => status !== WRONG_METHOD) : free
  const named = (status: number) => (endpoint.contract === 'messages' ? 'MessagesError' : statusName(status))
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${named(status)}` }]))
}
