import { BEYOND_CAP } from '../domain/usage-row.ts'
import { endAttempt, type Journey } from '../request.ts'
import type { Tally } from './tally.ts'
import type { DispatchDeps } from './try-routes.ts'

/** A route has answered. So has one that ignores its output cap, but the operator should know. */
export function noteAnswered({ health, log, clock }: DispatchDeps, journey: Journey, tally: Tally): void {
  const { route, provider, upstreamModel } = journey
  if (route) health.succeeded(route)
  endAttempt(journey, tally.isBeyondCap ? BEYOND_CAP : 'ok', clock())
  if (tally.isBeyondCap && provider && upstreamModel) log.beyondCap(provider, upstreamModel)
}
