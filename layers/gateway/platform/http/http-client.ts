import { Connection, type Origin, trustedCertificates } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { HttpError } from './http-error.ts'

/** POSTs to one origin, over connections that are kept. */
export type HttpClient = {
  /** `isAlone`: on a connection that was never used before. Throws an HttpError for a path or header that HTTP cannot carry. */
  post(path: string, headers: HeaderList, body: string, isAlone?: boolean): Exchange
}

/** Names and values in turns. */
export type HeaderList = readonly string[]

const MOST_KEPT = 64
// Plain ASCII, so that the head and the body are one string; nothing in it ends a line.
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const VALUE = /^[\t\x20-\x7e]*$/
const PATH = /^\/[\x21-\x7e]*$/

export function openHttpClient({ protocol, hostname, port, host }: URL, connectMs: number): HttpClient {
  const isSecure = protocol === 'https:'
  if (isSecure) trustedCertificates()
  const origin: Origin = {
    isSecure,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isSecure ? 443 : 80)),
    connectMs,
  }
  const kept: Connection[] = []
  const owner = {
    session: undefined as Buffer | undefined,
    onFree(connection: Connection) {
      if (kept.length < MOST_KEPT) kept.push(connection)
      else connection.destroy()
    },
    onGone(connection: Connection) {
      const at = kept.indexOf(connection)
      if (at !== -1) kept.splice(at, 1)
    },
  }
  return {
    post(path, headers, body, isAlone = false) {
      if (!PATH.test(path)) throw new HttpError('ERR_INVALID_CHAR', 'The path has a sign that HTTP cannot carry.')
      const lines = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${linesOf(headers)}`
      const request = `${lines}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: keep-alive\r\n\r\n${body}`
      const connection = (isAlone ? undefined : takeKept()) ?? new Connection(origin, owner)
      return connection.send(request)
    },
  }

  /** The connection that was used last is the least likely to have ended. */
  function takeKept(): Connection | undefined {
    for (let connection = kept.pop(); connection; connection = kept.pop()) {
      if (connection.isUsable) return connection
      connection.destroy()
    }
    return undefined
  }
}

function linesOf(headers: HeaderList): string {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string]
    // The value may be a secret, and is not quoted.
    if (!NAME.test(name) || !VALUE.test(value)) {
      throw new HttpError('ERR_INVALID_CHAR', `The header ${JSON.stringify(name)} has a sign that HTTP cannot carry.`)
    }
    lines += `${name}: ${value}\r\n`
  }
  return lines
}
