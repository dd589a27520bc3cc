import { type LossDeps, lossBoundOf } from '../../domain/loss.ts'
import type { Nano } from '../../domain/money.ts'
import { deadAtMs } from '../../request.ts'
import type { takeLoss } from '../../store/admission/take-loss.ts'
import type { RoutedRequest } from './route-health.ts'

/** Takes the worst loss of a route from what the key may still lose today; false if that is less. */
export type RiskLoss = (request: RoutedRequest, worst: Nano) => Promise<boolean>

export function lossRisker(take: ReturnType<typeof takeLoss>, stage: LossDeps): RiskLoss {
  return async (request, amount) => {
    const { requestId, hold, journey, credential } = request
    const isTaken = await take({
      keyId: credential.key.id,
      requestId,
      hold: { amount: hold, untilMs: deadAtMs(request) },
      amount,
      bound: lossBoundOf(credential.key, stage),
    })
    if (isTaken) journey.lossTaken = (journey.lossTaken ?? 0n) + amount
    if (isTaken === false) journey.isLossRefused = true
    return isTaken === true
  }
}
