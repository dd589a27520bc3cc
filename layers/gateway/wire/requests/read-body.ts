import { badRequest, GatewayError } from '../../domain/basics/gateway-error.ts'
import { MAX_DEPTH } from '../../domain/basics/json-fault.ts'
import { gainedBytes } from '../../domain/basics/normal-forms.ts'
import type { ChatRequest } from '../../domain/chat/chat.ts'
import { badField, describe, isObject } from '../basics/field-rules.ts'
import { Reading } from '../basics/reading.ts'
import { buildFields, type KnownRows } from '../basics/shape.ts'
import { PACKED } from '../chat/carried-thoughts.ts'
import { MODEL_WANTED } from '../chat/chat-fields.ts'
import { NO_MEDIA } from '../chat/prompt-media.ts'
import { SEAL } from '../chat/sealed-content.ts'

export const MAX_BODY_BYTES = 4 * 1024 * 1024
/** A quote has the body of another request inside. */
export const MAX_QUOTE_BYTES = MAX_BODY_BYTES + 1024
const PLAIN = /^\s*identity\s*$/i
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

export type RawBody = {
  readonly body?: string | undefined
  readonly isBase64Encoded: boolean
  readonly contentType: string | undefined
  readonly contentEncoding?: string | undefined
}

export type JsonBody = {
  readonly value: unknown
  /** The bytes that came, and those that numbers may gain when they are written again, and texts when they are normalised. */
  readonly bytes: number
  /** True if any field, at any depth, asks for a write to a cache. */
  readonly namesCache?: boolean
  readonly mayBeSealed?: boolean
  readonly callerId: string
  /** The header anthropic-beta. */
  readonly betas?: string | undefined
}

export function readJsonBody(raw: RawBody, callerId: string): JsonBody {
  const { text, bytes } = textOf(raw)
  const value = parse(text)
  const seen = { cache: false, gained: 0 }
  requireSaneShape(value, 0, seen)
  return {
    value,
    bytes: bytes + seen.gained,
    namesCache: seen.cache,
    mayBeSealed: SEALED.some((sign) => text.includes(sign)),
    callerId,
  }
}

/** Every text with a sealed or compacted item has one of them: thoughts may be packed, and any letter written `\u0053`. */
const SEALED = [SEAL, PACKED, '"compaction', '\\u00']

export function textOf(raw: RawBody, mostBytes = MAX_BODY_BYTES): Text {
  const { body = '', isBase64Encoded, contentType, contentEncoding } = raw
  requireJsonType(contentType)
  if (contentEncoding && !PLAIN.test(contentEncoding)) throw compressed(`as '${contentEncoding.slice(0, 80)}'`)
  return isBase64Encoded ? decode(body, mostBytes) : measure(body, mostBytes)
}

type Text = { readonly text: string; readonly bytes: number }

/** The two bytes with which gzip begins. No JSON begins so; read as text, the second is no character. */
const GZIP = [0x1f, 0x8b]

function measure(body: string, mostBytes: number): Text {
  if (body.charCodeAt(0) === GZIP[0]) throw compressed('with gzip')
  const bytes = Buffer.byteLength(body)
  requireSize(bytes, mostBytes)
  return { text: body.toWellFormed(), bytes }
}

function decode(base64: string, mostBytes: number): Text {
  const bytes = Buffer.from(base64, 'base64')
  requireSize(bytes.length, mostBytes)
  if (bytes[0] === GZIP[0] && bytes[1] === GZIP[1]) throw compressed('with gzip')
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), bytes: bytes.length }
  } catch {
    throw badRequest('invalid_json', 'The request body is not valid UTF-8.')
  }
}

function requireSize(bytes: number, most: number): void {
  if (bytes <= most) return
  throw new GatewayError('request_too_large', `The request body has ${bytes} bytes; at most ${most} are accepted.`)
}

function compressed(how: string): GatewayError {
  return new GatewayError('unsupported_media_type', `The request body is compressed ${how}. Send it uncompressed.`)
}

function requireJsonType(contentType: string | undefined): void {
  if (contentType !== undefined && JSON_TYPE.test(contentType.trim())) return
  const got = contentType === undefined ? 'there is none' : `it is '${contentType.slice(0, 80)}'`
  throw new GatewayError(
    'unsupported_media_type',
    `The Content-Type header must be application/json, but ${got}. Send the body as JSON with 'Content-Type: application/json'.`,
  )
}

/** The details are for `jsonFault`. */
export const NOT_JSON = 'The request body is not valid JSON.'

export function parse(text: string): unknown {
  if (text.trim() === '') throw badRequest('invalid_json', 'The request body is empty; a JSON object is needed.')
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('invalid_json', NOT_JSON)
  }
}

function requireSaneShape(value: unknown, depth: number, seen: { cache: boolean; gained: number }): void {
  if (typeof value === 'string') seen.gained += gainedBytes(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) {
      throw badRequest('invalid_body', 'The request body contains a number too large to represent.')
    }
    // Numbers in top-level fields of the request are not part of the prompt.
    if (depth > 1 && mayGrow(Math.abs(value))) seen.gained += LONGEST_NUMBER
  }
  if (typeof value !== 'object' || value === null) return
  if (depth === MAX_DEPTH) {
    throw badRequest('invalid_body', `The request body is nested more than ${MAX_DEPTH} levels deep.`)
  }
  if (Array.isArray(value)) {
    for (const element of value) requireSaneShape(element, depth + 1, seen)
    return
  }
  const fields = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(fields)) {
    if (name === '__proto__') {
      throw badRequest('invalid_body', "The request body has a field named '__proto__', which is not allowed.")
    }
    if (CACHE_FIELDS.has(name)) seen.cache = true
    seen.gained += gainedBytes(name)
    requireSaneShape(fields[name], depth + 1, seen)
  }
}

/** Fields that ask a provider to write to its cache. */
const CACHE_FIELDS = new Set(['cache_control', 'prompt_cache_breakpoint', 'prompt_cache_options'])

/** JSON.stringify writes none that is longer: -0.0000012345678901234567. */
const LONGEST_NUMBER = 25

/** True if a number may become longer when it is written again: `1e20` is sent to a provider as 21 digits. */
function mayGrow(size: number): boolean {
  if (size < 0.01) return size > 0
  return size >= 1000 && (size > Number.MAX_SAFE_INTEGER || size % 1000 === 0)
}

/** Several times as many as there are known fields. */
const MOST_FIELDS = 400

/** A request for one answer without tools and media, which its contract completes. */
export type ReadFields = Omit<ChatRequest, 'messageCount' | 'original' | 'embedding'>

/** The fields of a request that asks a model, by the table of its contract. Throws a GatewayError. */
export function readFields(json: JsonBody, rows: KnownRows): ReadFields {
  const { value, callerId, bytes, namesCache = false, mayBeSealed = true } = json
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
  const body = buildFields(value, rows, reading)
  return {
    model,
    body,
    unknown: reading.unknown,
    native: reading.native,
    hosted: [],
    raw: value,
    bytes,
    stream: body.stream === true,
    includeUsage: false,
    choices: 1,
    namedCap: undefined,
    toolCount: 0,
    media: NO_MEDIA,
    asksCacheWrite: namesCache,
    mayBeSealed,
  }
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
