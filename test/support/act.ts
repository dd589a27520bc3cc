import { randomBytes } from 'node:crypto'
import { type Act, newAct } from '../../layers/gateway/domain/act.ts'

/** Something that an operator does. */
export function actAt(nowMs = Date.now(), by = 'test'): Act {
  return newAct(by, nowMs, randomBytes(10))
}
