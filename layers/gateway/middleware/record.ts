import { ERRORS, GatewayError, internalError } from '../domain/basics/gateway-error.ts'
import { type Ending, endingOf, type Settle } from '../flow/billing/settle.ts'
import { waitAtMost } from '../flow/deadline.ts'
import type { GatewayRequest } from '../flow/request.ts'
import type { Middleware } from './gate.ts'

/** Every call with a valid key leaves a row, however it ended. The answer of a model settles itself. */
export function record(settle: Settle, settleMs: number): Middleware {
  return {
    after: ({ context: { request }, response }) =>
      close(request, { outcome: 'completed', httpStatus: response?.statusCode ?? 200 }),
    onError: ({ context: { request }, error }) => {
      const failure = error instanceof GatewayError ? error : internalError(error)
      return ERRORS[failure.kind].refusesKey ? undefined : close(request, endingOf(failure))
    },
  }

  /** No caller waits longer than this for an answer while the database is away; settling goes on. */
  function close(request: GatewayRequest, ending: Ending): Promise<void> | undefined {
    const { streaming, settling } = request.settlement
    return streaming || settling ? undefined : waitAtMost(settle(request, ending), settleMs)
  }
}
