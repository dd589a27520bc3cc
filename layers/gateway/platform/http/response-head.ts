import { HttpError } from './http-error.ts'

/** Names are in lower case; a value is the first of a header that came twice. Only Connection is a list of all values. */
export type Headers = ReadonlyMap<string, string>

export type Head = {
  readonly status: number
  readonly headers: Headers
  /** The end of the body: after so many bytes, with a last chunk, or with the connection. */
  readonly body: number | 'chunked' | 'until close'
  /** How long the connection may be kept for another request; 0 if it may not. */
  readonly keptMs: number
}

/** Node's limit. */
export const MOST_HEAD_BYTES = 16 * 1024

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
/** No line has a control character, such as a lone LF, which would end the line for others and not for us. */
const LINES = /^(?:[\t\x20-\x7e\x80-\xff]|\r\n)*$/
const CRLF = '\r\n'
const [SPACE, TAB] = [32, 9]
/** Their bodies are empty, even if their headers tell otherwise. */
const WITHOUT_BODY = new Set([204, 304])

export function parseHead(text: string): Head {
  let end = endOfLine(text, 0)
  const [, minor, status] = STATUS_LINE.exec(text.slice(0, end)) ?? []
  if (status === undefined) throw bad('There came something other than HTTP/1.1.')
  if (!LINES.test(text)) throw bad('There came a header that is none.')
  const headers = new Map<string, string>()
  while (end < text.length) {
    const start = end + CRLF.length
    end = endOfLine(text, start)
    readHeader(text, start, end, headers)
  }
  const code = Number(status)
  if (code === 101) throw bad('There came another protocol, which was not asked for.')
  const body = WITHOUT_BODY.has(code) || code < 200 ? 0 : bodyOf(headers)
  const isKept = body !== 'until close' && mayBeKept(minor === '1', body, headers.get('connection'))
  return { status: code, headers, body, keptMs: isKept ? keptMs(headers.get('keep-alive')) : 0 }
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf(CRLF, start)
  return end === -1 ? text.length : end
}

function readHeader(text: string, start: number, end: number, headers: Map<string, string>): void {
  const colon = text.indexOf(':', start)
  // A line without a colon has no name.
  const name = nameIn(colon < end ? text.slice(start, Math.max(start, colon)) : '')
  const value = trim(text, colon + 1, end)
  const before = headers.get(name)
  if (before === undefined) headers.set(name, value)
  else if (name === 'content-length' || name === 'transfer-encoding') throw bad(`There came two ${name} headers.`)
  else if (name === 'connection') headers.set(name, `${before},${value}`)
}

const MOST_NAMES = 256
/** Names as they were written, and in lower case. Hosts send the same few again and again. */
const NAMES = new Map<string, string>()

function nameIn(written: string): string {
  const known = NAMES.get(written)
  if (known !== undefined) return known
  if (!NAME.test(written)) throw bad('There came a header that is none.')
  const name = written.toLowerCase()
  if (NAMES.size < MOST_NAMES) NAMES.set(written, name)
  return name
}

/** Removes the spaces and tabs around a value, and nothing else: `\vchunked` is not `chunked`. */
function trim(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB
}

function bodyOf(headers: Headers): Head['body'] {
  const [encoding, length] = [headers.get('transfer-encoding'), headers.get('content-length')]
  if (encoding !== undefined) {
    if (length !== undefined) throw bad('There came a length for a body of chunks.')
    if (encoding.toLowerCase() !== 'chunked') throw bad('There came an encoding that was not asked for.')
    return 'chunked'
  }
  if (length === undefined) return 'until close'
  if (!/^\d{1,15}$/.test(length)) throw bad('There came a length that is no number.')
  return Number(length)
}

/** HTTP/1.0 has no chunks: a server that sends them does not expect another request. */
function mayBeKept(isNew: boolean, body: Head['body'], connection = ''): boolean {
  if (connection === '') return isNew
  const options = connection.toLowerCase().split(',')
  if (options.some((option) => option.trim() === 'close')) return false
  return isNew || (body !== 'chunked' && options.some((option) => option.trim() === 'keep-alive'))
}

/** A connection that the other side is about to close is not used again: a request that meets its end may be lost. */
function keptMs(keepAlive: string | undefined): number {
  const [, seconds] = (keepAlive !== undefined && /\btimeout=(\d{1,9})\b/i.exec(keepAlive)) || []
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(seconds) * 1000 - 1_000)
}

function bad(message: string): HttpError {
  return new HttpError('BAD_RESPONSE', message)
}
