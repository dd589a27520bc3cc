import { randomBytes } from 'node:crypto'
import { ACT_MS, type Act, newAct, timeLeft } from '../../layers/gateway/domain/keys/act.ts'

/** Something that an operator does. */
export function actAt(nowMs = Date.now(), by = 'test', mostMs = ACT_MS): Act {
  return newAct(by, nowMs, randomBytes(10), timeLeft(mostMs, Date.now))
}
