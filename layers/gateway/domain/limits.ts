import { secondsUntilFull, tokensLeft } from './bucket.ts'
import { COUNTERS, secondsLeft } from './counters.ts'
import type { Key } from './key.ts'
import { utcDay } from './time.ts'

export type Window = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

export type Limits = { readonly rpm: Window; readonly daily: Window }

export function limitsOf(key: Key, nowMs: number): Limits {
  const today = Number(key.counts.dailyLimit[utcDay(nowMs)] ?? 0n)
  return {
    rpm: {
      limit: key.rpm,
      remaining: tokensLeft(key.rpm, key.bucketFullAtUs, nowMs),
      resetSeconds: secondsUntilFull(key.bucketFullAtUs, nowMs),
    },
    daily: {
      limit: key.dailyLimit,
      remaining: Math.max(0, key.dailyLimit - today),
      resetSeconds: secondsLeft(COUNTERS.dailyLimit, nowMs),
    },
  }
}

/** The window that will refuse first. */
export function tightestWindow(limits: Limits): Window {
  const { rpm, daily } = limits
  return daily.remaining < rpm.remaining ? daily : rpm
}
