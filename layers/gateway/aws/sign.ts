import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { Credentials } from '../config.ts'

type Place = {
  readonly service: string
  readonly region: string
  readonly host: string
  readonly contentType: string
}

type ToSign = {
  /** The service's operation, as X-Amz-Target names it. */
  readonly target: string
  readonly body: string
  readonly credentials: Credentials
  readonly nowMs: number
}

/** The headers of a signed POST: names and values in turn, as node:http takes them without looking at each. */
type Sign = (call: ToSign) => string[]

/** Signs POSTs to a service by AWS's Signature Version 4. A day's signing key is made once. */
export function signer({ service, region, host, contentType }: Place): Sign {
  const keyOfDay = keptKey(region, service)
  return ({ target, body, credentials, nowMs }) => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials
    const time = basicIsoTime(nowMs)
    const day = time.slice(0, 8)
    const signed = sessionToken ? SIGNED_WITH_SESSION : SIGNED
    const session = sessionToken ? `x-amz-security-token:${sessionToken}\n` : ''
    const request =
      `POST\n/\n\ncontent-type:${contentType}\nhost:${host}\nx-amz-date:${time}\n${session}x-amz-target:${target}\n` +
      `\n${signed}\n${hash('sha256', body)}`
    const scope = `${day}/${region}/${service}/aws4_request`
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash('sha256', request)}`
    const signature = createHmac('sha256', keyOfDay(day, secretAccessKey)).update(toSign).digest('hex')
    const headers = [
      ...['Host', host, 'Content-Type', contentType, 'X-Amz-Date', time, 'X-Amz-Target', target],
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
    ]
    if (sessionToken) headers.push('X-Amz-Security-Token', sessionToken)
    return headers
  }
}

const SIGNED = 'content-type;host;x-amz-date;x-amz-target'
const SIGNED_WITH_SESSION = 'content-type;host;x-amz-date;x-amz-security-token;x-amz-target'

/** 20261115T120000Z */
function basicIsoTime(ms: number): string {
  const iso = new Date(ms).toISOString()
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`
}

function keptKey(region: string, service: string): (day: string, secret: string) => KeyObject {
  let kept: { readonly day: string; readonly secret: string; readonly key: KeyObject } | undefined
  return (day, secret) => {
    if (kept?.day !== day || kept.secret !== secret) {
      const parts = [day, region, service, 'aws4_request']
      const bytes = parts.reduce(
        (key, part) => createHmac('sha256', key).update(part).digest(),
        Buffer.from(`AWS4${secret}`),
      )
      kept = { day, secret, key: createSecretKey(bytes) }
    }
    return kept.key
  }
}
