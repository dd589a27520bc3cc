import { badRequest, GatewayError } from '../../domain/basics/gateway-error.ts'
import { type Endpoint, HTTP_ROUTES, isBilled } from '../../endpoints.ts'
import { badField, described } from '../basics/bad-field.ts'
import { isObject } from '../basics/field-rules.ts'
import { memberText } from '../basics/json-member.ts'
import { findRoute } from './find-route.ts'
import { MAX_QUOTE_BYTES, parse, type RawBody, textOf } from './read-body.ts'

export type QuoteRequest = {
  /** The endpoint at which the request would be sent. */
  readonly endpoint: Endpoint
  /** The request, letter for letter: its bytes decide how much is held for it. */
  readonly body: string
}

const FIELDS: readonly string[] = ['endpoint', 'body']

export const QUOTED_PATHS: readonly string[] = HTTP_ROUTES.filter(({ endpoint }) => isBilled(endpoint)).map(
  ({ path }) => path,
)

/** Throws a GatewayError. The body itself is for its endpoint to read. */
export function readQuote(raw: RawBody): QuoteRequest {
  const { text } = textOf(raw, MAX_QUOTE_BYTES)
  const quote = parse(text)
  if (!isObject(quote))
    throw badRequest('invalid_body', "The request body must be an object with 'endpoint' and 'body'.")
  const other = Object.keys(quote).find((name) => !FIELDS.includes(name))
  const endpoint = endpointAt(quote.endpoint, quote)
  const body = memberText(text, 'body')
  if (body === undefined) throw badField('body', 'the body of a request', undefined, quote)
  if (other !== undefined) throw unknownField(other)
  return { endpoint, body }
}

function endpointAt(path: unknown, quote: object): Endpoint {
  const found = typeof path === 'string' ? findRoute('POST', path) : undefined
  if (found && !(found instanceof GatewayError) && isBilled(found.route.endpoint)) return found.route.endpoint
  throw badField('endpoint', QUOTED_PATHS, path, quote)
}

function unknownField(name: string): GatewayError {
  const message = `A quote has the fields 'endpoint' and 'body' only, but ${described(FIELDS, name)} Fields of the request belong into 'body'.`
  return badRequest('unsupported_parameter', message, name.slice(0, 100))
}
