import type { Release } from '../../domain/admission/admission.ts'
import { ulidTimeMs } from '../../domain/basics/time.ts'
import { type KeysUpdate, updateIf } from '../dynamodb/conditional-writes.ts'
import type { Item, Tables } from '../dynamodb/database.ts'
import { keyItem, SWEEP_AT_ONCE, storedHold } from '../keys/key-item.ts'
import { creditRefusalAttribute } from '../notices/notices.ts'
import { COUNTER_WRITES, TOKEN_WRITE } from './admission-rules.ts'
import { lossAttribute } from './take-loss.ts'

/** True if this call released the hold, false if it had been released before. */
export type ReleaseHold = (release: Release) => Promise<boolean>

export function releaseHold(tables: Tables): ReleaseHold {
  return (release) => updateIf(tables, keyItem(release.address), releaseWrite(release))
}

const GIVING_BACK = COUNTER_WRITES.filter(({ giveBack }) => giveBack !== undefined)
const PAY = [
  'SET available = available + :back, spent = spent + :cost',
  ...GIVING_BACK.map(({ giveBack }) => giveBack),
].join(', ')

function releaseWrite(release: Release): KeysUpdate {
  const { requestId, hold, cost, tokensBack, loss = 0n, reached } = release
  const stored = storedHold(requestId, hold)
  // The windows that admission took from: a request's id contains the time by which it is judged.
  const atMs = ulidTimeMs(requestId)
  const names: Record<string, string> = {}
  for (const { nameWindow } of GIVING_BACK) nameWindow(names, atMs)
  const values: Item = {
    ':back': hold.amount - cost,
    ':cost': cost,
    ':open': stored,
    ':toRemove': new Set([stored]),
  }
  let pay = PAY
  if (tokensBack) {
    TOKEN_WRITE.nameWindow(names, atMs)
    values[':tokensBack'] = tokensBack
    pay += `, ${TOKEN_WRITE.giveBack}`
  }
  if (loss !== 0n) {
    names['#loss'] = lossAttribute(requestId)
    Object.assign(values, { ':loss': loss, ':zero': 0 })
    pay += ', #loss = if_not_exists(#loss, :zero) + :loss'
  }
  if (reached !== undefined) {
    names['#refused'] = creditRefusalAttribute('daily_loss_exceeded')
    Object.assign(values, { ':refused': reached, ':atOnce': SWEEP_AT_ONCE })
    pay += ', #refused = :refused, sweepAt = :atOnce'
  }
  return {
    ConditionExpression: 'contains(openHolds, :open)',
    UpdateExpression: `${pay} DELETE openHolds :toRemove`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }
}
