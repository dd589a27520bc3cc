import type { Release } from '../../domain/admission.ts'
import { ulidTimeMs } from '../../domain/ulid.ts'
import type { UpdateInput } from '../database.ts'
import { ifConditionHolds, retryRejected } from '../failures.ts'
import { keyItem } from '../keys/key-item.ts'
import { storedHold } from '../keys/stored-hold.ts'
import type { Tables } from '../tables.ts'
import { COUNTER_WRITES } from './counter-writes.ts'

/** True if this call released the hold, false if it had been released before. */
export type ReleaseHold = (release: Release) => Promise<boolean>

export function releaseHold({ database, keys }: Tables): ReleaseHold {
  return (release) => {
    const write = { TableName: keys, Key: keyItem(release.keyId), ...releaseWrite(release) }
    return ifConditionHolds(retryRejected(() => database.update(write)))
  }
}

const GIVING_BACK = COUNTER_WRITES.filter(({ giveBack }) => giveBack !== undefined)
const PAY = [
  'SET available = available + :back, spent = spent + :cost',
  ...GIVING_BACK.map(({ giveBack }) => giveBack),
].join(', ')

function releaseWrite({ requestId, hold, cost }: Release): Omit<UpdateInput, 'TableName' | 'Key'> {
  const stored = storedHold(requestId, hold)
  return {
    ConditionExpression: 'contains(openHolds, :open)',
    UpdateExpression: `${PAY} DELETE openHolds :toRemove`,
    ...(GIVING_BACK.length > 0 && { ExpressionAttributeNames: windowsOf(requestId) }),
    ExpressionAttributeValues: {
      ':back': hold.amount - cost,
      ':cost': cost,
      ':open': stored,
      ':toRemove': new Set([stored]),
    },
  }
}

/** The windows that admission took from: a request's id contains the time by which it is judged. */
function windowsOf(requestId: string): Record<string, string> {
  const names: Record<string, string> = {}
  for (const { nameWindow } of GIVING_BACK) nameWindow(names, ulidTimeMs(requestId))
  return names
}
