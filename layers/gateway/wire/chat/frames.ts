import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import { formatCredits, type Nano } from '../../domain/money/money.ts'

export const KEEP_ALIVE_FRAME = ': keep-alive\n\n'
export const DONE_FRAME = 'data: [DONE]\n\n'

/** A header cannot carry a cost that is not known yet; every SSE client skips comments. */
export function costFrame(headerPrefix: string, cost: Nano): string {
  return `: ${headerPrefix.toLowerCase()}cost ${formatCredits(cost)}\n\n`
}

export function errorFrame(error: GatewayError): string {
  return `data: ${JSON.stringify(errorEnvelope(error))}\n\n`
}

type Told = Pick<GatewayError, 'message' | 'type' | 'param' | 'code'>

export function errorEnvelope({ message, type, param, code }: Told) {
  return { error: { message, type, param, code } }
}
