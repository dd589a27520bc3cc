import { intervalUs, lastTakeableFullAtUs, latestSaneFullAtUs } from '../../domain/bucket.ts'
import type { Key } from '../../domain/key.ts'

type BucketWrite = {
  readonly hasToken: string
  readonly takeToken: string
  readonly values: Readonly<Record<string, number>>
}

/**
 * DynamoDB has no max(), so a full bucket and one in use are two writes, and one that a wrong clock left is a third.
 * The cached copy says which; where it is wrong, because another instance has taken since, that costs one retry.
 */
export function takeFromBucket(key: Key, nowMs: number): BucketWrite {
  const interval = intervalUs(key.rpm)
  const nowUs = nowMs * 1000
  if (key.bucketFullAtUs <= nowUs) {
    return {
      hasToken: 'bucketFullAtUs <= :nowUs',
      takeToken: 'bucketFullAtUs = :firstTaken',
      values: { ':nowUs': nowUs, ':firstTaken': nowUs + interval },
    }
  }
  const lastTakeable = lastTakeableFullAtUs(key.rpm, nowMs)
  const latestSane = latestSaneFullAtUs(nowMs)
  if (key.bucketFullAtUs > latestSane) {
    return {
      hasToken: 'bucketFullAtUs > :latestSane',
      takeToken: 'bucketFullAtUs = :lastTaken',
      values: { ':latestSane': latestSane, ':lastTaken': lastTakeable + interval },
    }
  }
  return {
    hasToken: 'bucketFullAtUs > :nowUs AND bucketFullAtUs <= :lastTakeable',
    takeToken: 'bucketFullAtUs = bucketFullAtUs + :interval',
    values: { ':nowUs': nowUs, ':lastTakeable': lastTakeable, ':interval': interval },
  }
}
