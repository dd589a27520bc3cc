import { lossOf } from './counters.ts'
import type { Key } from './key.ts'
import type { Nano } from './money.ts'

export type LossDeps = {
  /** The loss that a key may cause on a UTC day, if it has no bound of its own. */
  readonly dailyLoss: Nano
}

export function lossBoundOf({ dailyLoss }: Pick<Key, 'dailyLoss'>, stage: LossDeps): Nano {
  return dailyLoss ?? stage.dailyLoss
}

/** True if a key that was admitted at this time had reached its bound on loss. */
export function isBeyondLoss(key: Key, nowMs: number, stage: LossDeps): boolean {
  return lossOf(key, nowMs) >= lossBoundOf(key, stage)
}
