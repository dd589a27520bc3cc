import { createHash, timingSafeEqual } from 'node:crypto'
import { EDGE_HEADERS } from '../contract.ts'
import { parseAddress } from '../domain/cidr.ts'
import { type GatewayEvent, headerOf } from './gate.ts'

/**
 * The caller's address. It is the connection's, and no header's: except that our own CloudFront distribution, which
 * proves itself with a secret, is believed when it says for whom it calls.
 */
export function clientAddress(event: GatewayEvent, originSecret: string | undefined): string {
  const { sourceIp } = event.requestContext.http
  const proof = headerOf(event, EDGE_HEADERS.origin)
  const viewer = headerOf(event, EDGE_HEADERS.viewer)
  if (!originSecret || !proof || !viewer || !sameText(proof, originSecret)) return sourceIp
  return parseAddress(viewer) ? viewer : sourceIp
}

function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
