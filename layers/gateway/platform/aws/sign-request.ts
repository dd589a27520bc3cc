import { hash } from 'node:crypto'
import type { Credentials } from '../config.ts'
import { authorizer, basicIsoTime } from './sign.ts'

type Signing = {
  readonly service: string
  readonly region: string
  readonly credentials: Credentials
  readonly nowMs: number
}

type Request = {
  readonly method: string
  /** The path as it is sent. */
  readonly path: string
  readonly query?: Readonly<Record<string, readonly string[]>>
  /** The host and others, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Any request's headers with AWS's Signature Version 4. `signer` is quicker, and only for POSTs to one address. */
export function signRequest(signing: Signing, request: Request): Record<string, string> {
  const { method, path, query = {}, headers, body = '' } = request
  const { service, region, credentials, nowMs } = signing
  const time = basicIsoTime(nowMs)
  const bodyHash = hash('sha256', body)
  const all: Record<string, string> = {
    ...headers,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': time,
    ...(credentials.sessionToken && { 'x-amz-security-token': credentials.sessionToken }),
  }
  const names = Object.keys(all).toSorted()
  const signed = names.join(';')
  const lines = names.map((name) => `${name}:${all[name]?.trim().replaceAll(/ +/g, ' ')}\n`).join('')
  const place = service === 's3' ? encodedOnce(path) : escaped(path).replaceAll('%2F', '/')
  const canonical = `${method}\n${place}\n${sorted(query)}\n${lines}\n${signed}\n${bodyHash}`
  return { ...all, authorization: authorizer(region, service)({ request: canonical, signed, time, credentials }) }
}

function sorted(query: NonNullable<Request['query']>): string {
  const pairs = Object.entries(query).map(([name, values]) => [escaped(name), values.map(escaped).toSorted()] as const)
  const inOrder = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return inOrder.flatMap(([name, values]) => values.map((value) => `${name}=${value}`)).join('&')
}

/** S3 alone takes a path whose characters are encoded once, also those that are sent as they are. */
function encodedOnce(path: string): string {
  return path
    .split('/')
    .map((part) => escaped(decodeURIComponent(part)))
    .join('/')
}

/** All but letters, digits and `-._~` percent-encoded. */
export function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
