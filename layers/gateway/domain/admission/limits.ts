import type { Key } from '../keys/key.ts'
import { secondsUntilFull, tokensLeft } from './bucket.ts'
import { COUNTERS, type CounterName, leftIn, limitOf, secondsLeft } from './counters.ts'

export type Window = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

export type CountedWindow = { readonly limit: bigint; readonly remaining: bigint; readonly resetSeconds: number }

export type Limits = { readonly rpm: Window; readonly daily: Window }

export function limitsOf(key: Key, nowMs: number): Limits {
  return {
    rpm: {
      limit: key.rpm,
      remaining: tokensLeft(key.rpm, key.bucketFullAtUs, nowMs),
      resetSeconds: secondsUntilFull(key.bucketFullAtUs, nowMs),
    },
    daily: {
      limit: key.dailyLimit,
      remaining: Math.max(0, Number(leftIn(key, 'dailyLimit', nowMs))),
      resetSeconds: secondsLeft(COUNTERS.dailyLimit, nowMs),
    },
  }
}

/** The window of this counter; undefined if the key is unlimited. A limit that was lowered may be exceeded. */
export function countedWindow(key: Key, name: CounterName, nowMs: number): CountedWindow | undefined {
  const [limit, left] = [limitOf(key, name, nowMs), leftIn(key, name, nowMs)]
  if (limit === undefined || left === undefined) return undefined
  return { limit, remaining: left > 0n ? left : 0n, resetSeconds: secondsLeft(COUNTERS[name], nowMs) }
}

export function tightestWindow({ rpm, daily }: Limits): Window {
  return daily.remaining < rpm.remaining ? daily : rpm
}
