import { createHmac, hash, timingSafeEqual } from 'node:crypto'

type Header = string | string[] | undefined

const TOLERANCE_SECONDS = 300

/** `Stripe-Signature: t=…,v1=…`: a signature of the time and the raw body. While a secret is rolled there are two of v1. */
export function isFromStripe(header: Header, body: Buffer, secret: string, nowMs: number): boolean {
  const parts = String(header ?? '')
    .split(',')
    .map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1]
  if (!isRecent(time, nowMs)) return false
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')
  return parts.some(([name, value]) => name === 'v1' && isSame(value, expected))
}

type NoticeHeaders = Readonly<Record<string, Header>>

/** Standard Webhooks, as a gateway signs notices. */
export function isFromWaybill(headers: NoticeHeaders, body: Buffer, secret: string, nowMs: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers
  if (!isRecent(time, nowMs)) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  return String(signatures ?? '')
    .split(' ')
    .some((signature) => isSame(signature, `v1,${expected}`))
}

function isRecent(seconds: Header, nowMs: number): boolean {
  const age = nowMs / 1000 - Number(seconds)
  return /^\d{1,12}$/.test(String(seconds)) && Math.abs(age) <= TOLERANCE_SECONDS
}

/** In constant time. Hashes, because texts of different lengths cannot be compared so. */
function isSame(given: Header, expected: string): boolean {
  return timingSafeEqual(hash('sha256', String(given), 'buffer'), hash('sha256', expected, 'buffer'))
}
