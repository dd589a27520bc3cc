import { useEffect, useState } from 'preact/hooks'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/time.ts'
import { useZone } from '../preferences.ts'
import { counted, countOf, durationText } from './numbers.ts'

const SECOND_MS = 1000

type Props = { readonly at: string | null; readonly isBrief?: boolean }

/** In the time zone that was chosen, and in both when it is pointed at. */
export function Moment({ at, isBrief }: Props) {
  const zone = useZone()
  const now = useNow(isBrief ? SECOND_MS * 5 : MINUTE_MS)
  if (at === null) return <span class="quiet">never</span>
  return (
    <time dateTime={at} title={`${localText(at)}\n${utcText(at)}`}>
      {isBrief ? (
        distance(Date.parse(at) - now, isBrief)
      ) : (
        <>
          {zone === 'utc' ? utcText(at) : localText(at)} <span class="quiet">({distance(Date.parse(at) - now)})</span>
        </>
      )}
    </time>
  )
}

function utcText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
}

/** As the UTC text, with the offset of this machine's zone: `2026-11-16 14:03:22 +01:00`. */
function localText(at: string): string {
  const time = new Date(at)
  const aheadMs = -time.getTimezoneOffset() * MINUTE_MS
  const text = new Date(time.getTime() + aheadMs).toISOString()
  const offset = new Date(Math.abs(aheadMs)).toISOString().slice(11, 16)
  return `${text.slice(0, 10)} ${text.slice(11, 19)} ${aheadMs < 0 ? '−' : '+'}${offset}`
}

const UNITS = [
  ['day', 'd', DAY_MS],
  ['hour', 'h', HOUR_MS],
  ['minute', 'min', MINUTE_MS],
  ['second', 's', SECOND_MS],
] as const

/** `2 minutes ago`, or `2 min ago`. */
function distance(ms: number, isBrief?: boolean): string {
  for (const [unit, short, size] of UNITS) {
    const count = Math.floor(Math.abs(ms) / size)
    if (count === 0) continue
    const text = isBrief ? `${count} ${short}` : countOf(count, unit)
    return ms < 0 ? `${text} ago` : `in ${text}`
  }
  return 'now'
}

/** One timer for each period, however many parts use it: a page may have hundreds of moments. */
const clocks = new Map<
  number,
  { readonly listeners: Set<(now: number) => void>; timer: ReturnType<typeof setInterval> }
>()

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => subscribe(everyMs, setNow), [everyMs])
  return now
}

function subscribe(everyMs: number, listener: (now: number) => void): () => void {
  const clock = clocks.get(everyMs) ?? { listeners: new Set(), timer: setInterval(() => tick(everyMs), everyMs) }
  clocks.set(everyMs, clock)
  clock.listeners.add(listener)
  return () => {
    clock.listeners.delete(listener)
    if (clock.listeners.size > 0) return
    clearInterval(clock.timer)
    clocks.delete(everyMs)
  }
}

function tick(everyMs: number): void {
  const now = Date.now()
  for (const listener of clocks.get(everyMs)?.listeners ?? []) listener(now)
}

/** A duration; exact when it is pointed at. */
export function Took({ ms }: { readonly ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <span class="quiet">–</span>
  return <span title={`${counted(ms)} ms`}>{durationText(ms)}</span>
}
