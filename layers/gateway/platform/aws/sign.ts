import { createHmac, createSecretKey, hash } from 'node:crypto'
import type { Credentials } from '../config.ts'

type SigningScope = {
  readonly service: string
  readonly region: string
  readonly host: string
  /** Only letters, digits and `-._~/`: other characters would have to be encoded twice. */
  readonly path?: string
  readonly contentType: string
}

type ToSign = {
  /** The service's operation, as X-Amz-Target names it; none if the path names it. */
  readonly target?: string | undefined
  readonly body: string
  readonly credentials: Credentials
  readonly nowMs: number
}

/** Signs POSTs to a service by AWS's Signature Version 4: returns their headers beside the host, names and values in turns. */
export function signer({ service, region, host, path = '/', contentType }: SigningScope) {
  const authorize = authorizer(region, service)
  return ({ target, body, credentials, nowMs }: ToSign): string[] => {
    const { sessionToken } = credentials
    const time = basicIsoTime(nowMs)
    const signed = `content-type;host;x-amz-date${sessionToken ? ';x-amz-security-token' : ''}${target ? ';x-amz-target' : ''}`
    const session = sessionToken ? `x-amz-security-token:${sessionToken}\n` : ''
    const operation = target ? `x-amz-target:${target}\n` : ''
    const request =
      `POST\n${path}\n\ncontent-type:${contentType}\nhost:${host}\nx-amz-date:${time}\n${session}${operation}` +
      `\n${signed}\n${hash('sha256', body)}`
    const authorization = authorize({ request, signed, time, credentials })
    const headers = ['Content-Type', contentType, 'X-Amz-Date', time, 'Authorization', authorization]
    if (target) headers.push('X-Amz-Target', target)
    if (sessionToken) headers.push('X-Amz-Security-Token', sessionToken)
    return headers
  }
}

type Canonical = {
  readonly request: string
  readonly signed: string
  readonly time: string
  readonly credentials: Credentials
}

/** The Authorization of a request in its canonical form. */
export function authorizer(region: string, service: string): (canonical: Canonical) => string {
  const hmacOfDay = keptHmac(region, service)
  return ({ request, signed, time, credentials: { accessKeyId, secretAccessKey } }) => {
    const day = time.slice(0, 8)
    const scope = `${day}/${region}/${service}/aws4_request`
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', request)}`
    const signature = hmacOfDay(day, secretAccessKey)(toSign)
    return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
  }
}

/** The last time that was written: a request signs several calls in a second. */
let lastTime = { second: Number.NaN, text: '' }

/** 20261115T120000Z */
export function basicIsoTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== lastTime.second) {
    const iso = new Date(ms).toISOString()
    const text = `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`
    lastTime = { second, text }
  }
  return lastTime.text
}

type Hmac = (text: string) => string

/** HMACs by the signing key of a day, which is made once: as a KeyObject, which Node takes in a seventh of the time of bytes. */
function keptHmac(region: string, service: string): (day: string, secret: string) => Hmac {
  let kept: { readonly day: string; readonly secret: string; readonly hmac: Hmac } | undefined
  return (day, secret) => {
    if (kept?.day !== day || kept.secret !== secret) {
      const parts = [day, region, service, 'aws4_request']
      const first = Buffer.from(`AWS4${secret}`)
      const key = createSecretKey(parts.reduce((key, part) => createHmac('sha256', key).update(part).digest(), first))
      kept = { day, secret, hmac: (text) => createHmac('sha256', key).update(text).digest('hex') }
    }
    return kept.hmac
  }
}
