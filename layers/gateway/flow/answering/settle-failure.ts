import type { GatewayError } from '../../domain/gateway-error.ts'
import type { AdmittedChat } from '../../request.ts'
import { billFailure } from '../billing/owed.ts'
import { endingOf } from '../billing/settle.ts'
import { waitAtMost } from '../deadline.ts'
import type { ChatDeps } from './chat-deps.ts'
import { toGatewayError } from './upstream-error.ts'

/**
 * The error for a request that no route has answered. If an upstream bills it all the same, it is settled here, with its
 * charge; if not, the last gate settles it as free.
 */
export async function settleFailure(deps: ChatDeps, request: AdmittedChat, error: unknown): Promise<GatewayError> {
  const told = toGatewayError(error)
  const bill = await billFailure(deps, request)
  if (bill.source === 'none') return told
  // It is charged, so it was neither refused nor abandoned.
  const settling = deps.settle(request, { ...endingOf(told), outcome: 'upstream_error', bill })
  await waitAtMost(settling, deps.timing.settleMs)
  return told
}
