import { GatewayError, internalError } from '../domain/gateway-error.ts'
import { type Ending, endingOf, type Settle } from '../flow/settle.ts'
import { waitAtMost } from '../flow/wait-at-most.ts'
import type { GatewayRequest } from '../request.ts'
import type { Middleware } from './gate.ts'

/** Every call with a valid key leaves a row, however it ended. The answer of a model settles itself. */
export function record(settle: Settle, settleMs: number): Middleware {
  return {
    after: async ({ context: { request }, response }) => {
      await close(request, { outcome: 'completed', httpStatus: response?.statusCode ?? 200 })
    },
    onError: async ({ context: { request }, error }) => {
      const failure = error instanceof GatewayError ? error : internalError(error)
      if (failure.kind !== 'invalid_api_key') await close(request, endingOf(failure))
    },
  }

  /** Nobody waits longer than this for an answer while the database is away; settling goes on. */
  async function close(request: GatewayRequest, ending: Ending): Promise<void> {
    const { streaming, settling } = request.settlement
    if (streaming || settling) return
    await waitAtMost(settle(request, ending), settleMs)
  }
}
