import { GatewayError } from '../domain/gateway-error.ts'
import { endingOf, type Settle } from '../flow/settle.ts'
import { internalError } from '../flow/upstream-error.ts'
import type { Gate } from './gate.ts'

/** Every call with a known key leaves a row, whatever became of it. A stream leaves its own. */
export function record(settle: Settle): Gate {
  return {
    after: async ({ context: { passage }, response }) => {
      if (!passage.streaming) await settle(passage, { outcome: 'completed', httpStatus: response?.statusCode ?? 200 })
    },
    onError: async ({ context: { passage }, error }) => {
      await settle(passage, endingOf(error instanceof GatewayError ? error : internalError(error)))
    },
  }
}
