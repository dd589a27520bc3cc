import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import { UpstreamFailure } from '../../domain/routing/upstream-failure.ts'
import { BEYOND_CAP } from '../../domain/rows/usage-row.ts'
import { billFailure } from '../billing/owed.ts'
import { endingOf, settleInTime } from '../billing/settle.ts'
import { type AdmittedChat, endAttempt, type Journey } from '../request.ts'
import { witnessOf } from '../routing/route-health.ts'
import { noteOwed, type RoutingDeps } from '../routing/try-routes.ts'
import type { ChatDeps } from './chat-deps.ts'
import type { Tally } from './tally.ts'
import { toGatewayError } from './upstream-error.ts'

/** A route has answered. So has one that ignores its output cap, but the operator should know. */
export function noteAnswered({ health, log, clock }: RoutingDeps, journey: Journey, tally: Tally): void {
  const { route, provider, upstreamModel } = journey
  if (route) health.succeeded(route)
  endAttempt(journey, tally.isBeyondCap ? BEYOND_CAP : 'ok', clock())
  if (tally.isBeyondCap && provider && upstreamModel) log.beyondCap(provider, upstreamModel)
}

/** A route that dies in the middle of its answers rests like one that never begins. Our own deadline is not its fault. */
export function noteBroken(
  { health, log, clock }: RoutingDeps,
  request: AdmittedChat,
  tally: Tally,
  error: unknown,
  deadline: AbortSignal,
): void {
  const { journey } = request
  if (journey.candidate) noteOwed(journey, journey.candidate, tally, error)
  delete journey.candidate
  if (!(error instanceof UpstreamFailure)) return
  endAttempt(journey, error.result, clock(), error.said)
  if (error.isCallers || deadline.aborted) return
  if (!journey.route || !journey.provider) return
  health.failed(journey.route, error, () => witnessOf(request), clock())
  log.upstreamFailed(journey.provider, error)
}

/**
 * The error for a request that no route has answered. If an upstream bills it all the same, it is settled here, with its
 * charge; if not, the last gate settles it as free.
 */
export async function settleFailure(deps: ChatDeps, request: AdmittedChat, error: unknown): Promise<GatewayError> {
  const told = toGatewayError(error)
  const bill = await billFailure(deps, request)
  if (bill.source === 'none') return told
  // It is charged, so it was neither refused nor abandoned.
  await settleInTime(deps, request, { ...endingOf(told), outcome: 'upstream_error', bill })
  return told
}
