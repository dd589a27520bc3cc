import { hash, timingSafeEqual } from 'node:crypto'
import { EDGE_HEADERS } from '../contract.ts'
import { parseAddress } from '../domain/cidr.ts'
import { GatewayError } from '../domain/gateway-error.ts'
import type { OpenedRequest } from '../request.ts'
import { type Gate, headerOf } from './gate.ts'

/**
 * Where a CloudFront distribution is in front, a request must have come through it, which a secret proves, and it is
 * believed when it says for whom it calls. Without a secret there is none, and every request passes as it is.
 */
export function requireEdge(originSecrets: readonly string[]): Gate<OpenedRequest, OpenedRequest> {
  const accepted = originSecrets.map(digestOf)
  return {
    pass: (request, event) => {
      if (accepted.length === 0) return request
      const proof = headerOf(event, EDGE_HEADERS.origin)
      if (!proof || !isOneOf(accepted, digestOf(proof))) throw calledDirectly()
      const viewer = headerOf(event, EDGE_HEADERS.viewer)
      if (viewer && parseAddress(viewer)) request.sourceIp = viewer
      return request
    },
  }
}

function isOneOf(digests: readonly Buffer[], digest: Buffer): boolean {
  return digests.some((known) => timingSafeEqual(known, digest))
}

/** Digests are of one length, and where two of them differ says nothing of the texts. */
function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function calledDirectly(): GatewayError {
  return new GatewayError(
    'direct_access_denied',
    "This address takes no requests. Use the gateway's public address; its operator knows it as the stack's output BaseUrl.",
  )
}
