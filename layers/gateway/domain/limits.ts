import { secondsUntilFull, tokensLeft } from './bucket.ts'
import type { Key } from './key.ts'

export type Window = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number }

export type Limits = { readonly rpm: Window; readonly daily: Window }

const DAY_MS = 24 * 60 * 60 * 1000

type Day = { readonly number: number; readonly text: string }

/** The last of the days with even numbers and of those with odd ones: a request asks for today and yesterday several times. */
const lastDays: [Day, Day] = [dayAt(0), dayAt(1)]

export function utcDay(nowMs: number): string {
  const number = Math.floor(nowMs / DAY_MS)
  const parity = number & 1
  if (lastDays[parity]?.number !== number) lastDays[parity] = dayAt(number)
  return (lastDays[parity] as Day).text
}

/** As `toISOString` writes it, which takes ten times as long. */
export function isoTime(ms: number): string {
  const time = Math.floor(ms) % DAY_MS
  if (!(time >= 0)) return new Date(ms).toISOString()
  const seconds = Math.floor(time / 1000)
  return `${utcDay(ms)}T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(time % 1000).padStart(3, '0')}Z`
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

function dayAt(number: number): Day {
  return { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) }
}

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
      resetSeconds: Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000),
    },
  }
}

/** The window that will refuse first. */
export function tightestWindow(limits: Limits): Window {
  const { rpm, daily } = limits
  return daily.remaining < rpm.remaining ? daily : rpm
}
