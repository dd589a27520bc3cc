import { badRequest, GatewayError } from '../../domain/basics/gateway-error.ts'
import { type Endpoint, HTTP_ROUTES, isBilled } from '../../endpoints.ts'
import { badField, described, isObject } from '../basics/field-rules.ts'
import { findRoute } from './find-route.ts'
import { MAX_QUOTE_BYTES, parse, type RawBody, textOf } from './read-body.ts'

const FIELDS: readonly string[] = ['endpoint', 'body']

export const QUOTED_PATHS: readonly string[] = HTTP_ROUTES.filter(({ endpoint }) => isBilled(endpoint)).map(
  ({ path }) => path,
)

/** Throws a GatewayError. The body is for its endpoint to read, letter for letter: its bytes decide how much is held. */
export function readQuote(raw: RawBody) {
  const { text } = textOf(raw, MAX_QUOTE_BYTES)
  const quote = parse(text)
  if (!isObject(quote))
    throw badRequest('invalid_body', "The request body must be an object with 'endpoint' and 'body'.")
  const other = Object.keys(quote).find((name) => !FIELDS.includes(name))
  const endpoint = endpointAt(quote.endpoint, quote)
  const body = memberText(text, 'body')
  if (body === undefined) throw badField('body', 'the body of a request', undefined, quote)
  if (other !== undefined) {
    const message = `A quote has the fields 'endpoint' and 'body' only, but ${described(FIELDS, other)} Fields of the request belong into 'body'.`
    throw badRequest('unsupported_parameter', message, other.slice(0, 100))
  }
  return { endpoint, body }
}

function endpointAt(path: unknown, quote: object): Endpoint {
  const found = typeof path === 'string' ? findRoute('POST', path) : undefined
  if (found && !(found instanceof GatewayError) && isBilled(found.route.endpoint)) return found.route.endpoint
  throw badField('endpoint', QUOTED_PATHS, path, quote)
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [34, 92, 58, 44]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125]

/** The text of a member as it stands in valid JSON; the last of several with the same name, as for JSON.parse. */
function memberText(json: string, name: string): string | undefined {
  let found: string | undefined
  let depth = 0
  let member: string | undefined
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const sign = json.charCodeAt(at)
    if (sign === QUOTE) {
      const end = endOfText(json, at)
      if (depth === 1 && from === 0) member = JSON.parse(json.slice(at, end + 1))
      at = end
    } else if (sign === OPEN_OBJECT || sign === OPEN_LIST) depth += 1
    else if (sign === COLON && depth === 1) from = at + 1
    else if (sign === CLOSE_OBJECT || sign === CLOSE_LIST || sign === COMMA) {
      if (depth === 1 && from > 0) {
        if (member === name) found = json.slice(from, at).trim()
        from = 0
      }
      if (sign !== COMMA) depth -= 1
    }
  }
  return found
}

function endOfText(json: string, start: number): number {
  let at = start + 1
  for (let sign = json.charCodeAt(at); sign !== QUOTE; sign = json.charCodeAt(at)) at += sign === BACKSLASH ? 2 : 1
  return at
}
