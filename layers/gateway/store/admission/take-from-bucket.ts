import { intervalUs, lastTakeableFullAtUs, latestSaneFullAtUs } from '../../domain/admission/bucket.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { Item } from '../dynamodb/database.ts'

/**
 * DynamoDB has no max(), so a full bucket and one in use are two writes, and one that a wrong clock left is a third.
 * The cached copy decides between them; if it is wrong, because another instance has taken since, that costs one retry.
 */
function formOf({ bucketFullAtUs }: Key, nowMs: number): 'full' | 'in use' | 'wrong' {
  if (bucketFullAtUs <= nowMs * 1000) return 'full'
  return bucketFullAtUs <= latestSaneFullAtUs(nowMs) ? 'in use' : 'wrong'
}

/** The condition that the bucket has a token. Its values are added to those of the write. */
export function hasToken(cached: Key, nowMs: number, values: Item): string {
  const form = formOf(cached, nowMs)
  if (form === 'wrong') {
    values[':latestSane'] = latestSaneFullAtUs(nowMs)
    return 'bucketFullAtUs > :latestSane'
  }
  values[':nowUs'] = nowMs * 1000
  if (form === 'full') return 'bucketFullAtUs <= :nowUs'
  values[':lastTakeable'] = lastTakeableFullAtUs(cached.rpm, nowMs)
  return 'bucketFullAtUs > :nowUs AND bucketFullAtUs <= :lastTakeable'
}

export function takeToken(cached: Key, nowMs: number, values: Item): string {
  const form = formOf(cached, nowMs)
  const interval = intervalUs(cached.rpm)
  if (form === 'full') {
    values[':firstTaken'] = nowMs * 1000 + interval
    return 'bucketFullAtUs = :firstTaken'
  }
  if (form === 'wrong') {
    values[':lastTaken'] = lastTakeableFullAtUs(cached.rpm, nowMs) + interval
    return 'bucketFullAtUs = :lastTaken'
  }
  values[':interval'] = interval
  return 'bucketFullAtUs = bucketFullAtUs + :interval'
}
