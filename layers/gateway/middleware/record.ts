import { ERRORS, GatewayError, internalError } from '../domain/basics/gateway-error.ts'
import { type Ending, endingOf, type SettleInTime, settleInTime } from '../flow/billing/settle.ts'
import type { GatewayRequest } from '../flow/request.ts'
import type { Middleware } from './gate.ts'

/** Every call with a valid key leaves a row, however it ended. The answer of a model settles itself. */
export function record(deps: SettleInTime): Middleware {
  return {
    after: ({ context: { request }, response }) =>
      close(request, { outcome: 'completed', httpStatus: response?.statusCode ?? 200 }),
    onError: ({ context: { request }, error }) => {
      const failure = error instanceof GatewayError ? error : internalError(error)
      return ERRORS[failure.kind].refusesKey ? undefined : close(request, endingOf(failure))
    },
  }

  function close(request: GatewayRequest, ending: Ending): Promise<void> | undefined {
    const { streaming, settling } = request.settlement
    return streaming || settling ? undefined : settleInTime(deps, request, ending)
  }
}
