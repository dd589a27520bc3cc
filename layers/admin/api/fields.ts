import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import { FAULT_WORDS } from '../../catalog/fault-words.ts'
import { jsonFault } from '../../gateway/domain/basics/json-fault.ts'
import { parseJson } from '../../gateway/domain/basics/json-object.ts'
import { closest } from '../../gateway/wire/basics/closest.ts'
import { AdminError } from './admin-error.ts'
import type { AdminRequest } from './call.ts'

type Fields = Readonly<Record<string, unknown>>

const MOST_BYTES = 64 * 1024

/** Only JSON is read: an HTML form on another site cannot send it. */
export function readJson(
  { headers, body }: Pick<AdminRequest, 'headers' | 'body'>,
  { mostBytes = MOST_BYTES }: { readonly mostBytes?: number | undefined },
): Fields {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    const message = 'The body must be JSON, with the header Content-Type: application/json.'
    throw new AdminError('unsupported_media_type', message)
  }
  if (body.byteLength > mostBytes) {
    throw new AdminError('request_too_large', `The body may have at most ${Math.floor(mostBytes / 1024)} KiB.`)
  }
  if (!isUtf8(body)) throw new AdminError('invalid_request', 'The body is not UTF-8.')
  const text = Buffer.from(body).toString()
  const value = parseJson(text)
  if (value === undefined) throw new AdminError('invalid_request', `The body is not JSON: ${jsonFault(text)}.`)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new AdminError('invalid_request', 'The body must be a JSON object.')
}

/** The first value of a name that is there twice; an empty one counts as missing. */
export function queryFields(query: URLSearchParams): Fields {
  const names = [...new Set(query.keys())].filter((name) => query.get(name) !== '')
  return Object.fromEntries(names.map((name) => [name, query.get(name)]))
}

/** Reads a query or a body by its schema. An unknown field is refused, so that no typing error goes unnoticed. */
export function readFields<S extends z.ZodObject>(schema: S, fields: Fields): z.output<S> {
  const { data, error } = schema.safeParse(fields, FAULT_WORDS)
  if (!error) return data
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') throw unknownField(issue.keys[0] ?? '', Object.keys(schema.shape))
  }
  const [{ path, message } = { path: [], message: '' }] = error.issues
  const name = String(path[0])
  throw wrong(name, fields[name] === undefined ? 'is missing.' : message)
}

export function wrong(name: string, message: string): AdminError {
  return new AdminError('invalid_request', `'${name}' ${message}`, { param: name })
}

export const nothingToChange = () => new AdminError('invalid_request', 'The body says nothing to change.')

function unknownField(name: string, known: readonly string[]): AdminError {
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
  const near = closest(name, known)
  const meant = near === undefined ? '' : `Did you mean '${near}'? `
  const there = known.length > 0 ? `There are: ${known.join(', ')}.` : 'There are none.'
  return new AdminError('invalid_request', `There is no field '${shown}' here. ${meant}${there}`, { param: shown })
}
