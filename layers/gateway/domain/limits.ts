import { secondsUntilFull, tokensLeft } from './bucket.ts'
import type { Key } from './key.ts'

export type Window = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

export type Limits = { readonly rpm: Window; readonly daily: Window }

const DAY_MS = 24 * 60 * 60 * 1000

/** The last one asked for is kept: a request asks for the same day several times. */
let lastDay = { number: Number.NaN, text: '' }

export function utcDay(nowMs: number): string {
  const number = Math.floor(nowMs / DAY_MS)
  if (number !== lastDay.number) lastDay = { number, text: new Date(nowMs).toISOString().slice(0, 10) }
  return lastDay.text
}

export function limitsOf(key: Key, nowMs: number): Limits {
  const today = key.days[utcDay(nowMs)] ?? 0
  return {
    rpm: {
      limit: key.rpm,
      remaining: tokensLeft(key.rpm, key.bucketFullAtUs, nowMs),
      resetSeconds: secondsUntilFull(key.bucketFullAtUs, nowMs),
    },
    daily: {
      limit: key.dailyLimit,
      remaining: Math.max(0, key.dailyLimit - today),
      resetSeconds: Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000),
    },
  }
}

/** The window that will refuse first. */
export function tightestWindow(limits: Limits): Window {
  return Object.values(limits).reduce((tightest, window) => (window.remaining < tightest.remaining ? window : tightest))
}

/** Day counters that no clock can ask for again. Yesterday stays: another instance may still live in it. */
export function forgottenDays(key: Key, nowMs: number): string[] {
  const yesterday = utcDay(nowMs - DAY_MS)
  return Object.keys(key.days).filter((day) => day < yesterday)
}
