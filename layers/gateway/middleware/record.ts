import { GatewayError } from '../domain/gateway-error.ts'
import type { Passage } from '../flow/passage.ts'
import { type Ending, endingOf, type Settle } from '../flow/settle.ts'
import { settledWithin } from '../flow/settled-within.ts'
import { internalError } from '../flow/upstream-error.ts'
import type { Gate } from './gate.ts'

/** Every call with a known key leaves a row, whatever became of it. An answer of a model leaves its own. */
export function record(settle: Settle, settleMs: number): Gate {
  return {
    after: async ({ context: { passage }, response }) => {
      await close(passage, { outcome: 'completed', httpStatus: response?.statusCode ?? 200 })
    },
    onError: async ({ context: { passage }, error }) => {
      await close(passage, endingOf(error instanceof GatewayError ? error : internalError(error)))
    },
  }

  /** Without a database nobody waits longer for an answer than this; settling goes on. */
  async function close(passage: Passage, ending: Ending): Promise<void> {
    if (passage.streaming || passage.settling) return
    passage.settling = settle(passage, ending)
    await settledWithin(passage.settling, settleMs)
  }
}
