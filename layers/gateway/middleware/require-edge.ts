import { hash, timingSafeEqual } from 'node:crypto'
import { parseAddress } from '../domain/admission/cidr.ts'
import { GatewayError } from '../domain/basics/gateway-error.ts'
import { EDGE_HEADERS } from '../names.ts'
import type { Gate } from './gate.ts'

/**
 * With a CloudFront distribution in front, a request must have come through it, which a secret proves; then its word
 * about the viewer's address and the body's type is believed. Without secrets there is no distribution, and every request passes unchanged.
 */
export function requireEdge(originSecrets: readonly string[]): Gate {
  const accepted = originSecrets.map(digestOf)
  return (request, event) => {
    if (accepted.length === 0) return
    const proof = event.headers[EDGE_HEADERS.origin]
    const digest = digestOf(proof ?? '')
    if (!proof || !accepted.some((known) => timingSafeEqual(known, digest))) {
      const message =
        "This address takes no requests. Use the gateway's public address; its operator knows it as the stack's output BaseUrl."
      throw new GatewayError('direct_access_denied', message)
    }
    const viewer = event.headers[EDGE_HEADERS.viewer]
    if (viewer && parseAddress(viewer)) request.sourceIp = viewer
    // The distribution replaces the type of a long body, so that it comes in base64.
    const type = event.headers[EDGE_HEADERS.type]
    if (type) event.headers['content-type'] = type
  }
}

/** Digests have one length, and the position at which two of them differ reveals nothing about the texts. */
function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
