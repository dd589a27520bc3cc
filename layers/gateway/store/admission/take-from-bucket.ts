import { intervalUs, lastTakeableFullAtUs, latestSaneFullAtUs } from '../../domain/bucket.ts'
import type { Key } from '../../domain/key.ts'

type Expression = { readonly text: string; readonly values: Readonly<Record<string, number>> }
type BucketWrite = { readonly hasToken: Expression; readonly takeToken: Expression }

/**
 * DynamoDB has no max(), so a full bucket and one in use are two writes, and one that a wrong clock left is a third.
 * The cached copy says which; where it is wrong, because another instance has taken since, that costs one retry.
 */
export function takeFromBucket(key: Key, nowMs: number): BucketWrite {
  const interval = intervalUs(key.rpm)
  const nowUs = nowMs * 1000
  if (key.bucketFullAtUs <= nowUs) {
    return {
      hasToken: { text: 'bucketFullAtUs <= :nowUs', values: { ':nowUs': nowUs } },
      takeToken: { text: 'bucketFullAtUs = :firstTaken', values: { ':firstTaken': nowUs + interval } },
    }
  }
  const lastTakeable = lastTakeableFullAtUs(key.rpm, nowMs)
  const latestSane = latestSaneFullAtUs(nowMs)
  if (key.bucketFullAtUs > latestSane) {
    return {
      hasToken: { text: 'bucketFullAtUs > :latestSane', values: { ':latestSane': latestSane } },
      takeToken: { text: 'bucketFullAtUs = :lastTaken', values: { ':lastTaken': lastTakeable + interval } },
    }
  }
  return {
    hasToken: {
      text: 'bucketFullAtUs > :nowUs AND bucketFullAtUs <= :lastTakeable',
      values: { ':nowUs': nowUs, ':lastTakeable': lastTakeable },
    },
    takeToken: { text: 'bucketFullAtUs = bucketFullAtUs + :interval', values: { ':interval': interval } },
  }
}
