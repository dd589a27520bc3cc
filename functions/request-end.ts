import type { GatewayContext } from '../layers/gateway/middleware/gate.ts'
import type { Instance } from './instance.ts'

/**
 * An invocation ends when its own and the dead requests that it met are settled: a frozen instance would do it late or
 * never.
 */
export function requestEnd({ finishDeadHolds }: Instance) {
  return async ({ context }: { readonly context: unknown }): Promise<void> => {
    const { settlement, credential, deadHolds, deadlineMs } = (context as GatewayContext).request
    await (settlement.streaming ?? settlement.settling)
    if (credential && deadHolds?.length) await finishDeadHolds(credential.key.id, deadHolds, deadlineMs)
  }
}
