import { useEffect, useState } from 'preact/hooks'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../layers/gateway/domain/time.ts'

type Props = { readonly at: string | null; readonly never?: string; readonly isBrief?: boolean }

export function Moment({ at, never = 'never', isBrief }: Props) {
  const now = useNow(MINUTE_MS)
  if (at === null) return <span class="quiet">{never}</span>
  return (
    <time dateTime={at} title={utcText(at)}>
      {isBrief ? (
        distance(Date.parse(at) - now)
      ) : (
        <>
          {utcText(at)} <span class="quiet">({distance(Date.parse(at) - now)})</span>
        </>
      )}
    </time>
  )
}

function utcText(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const

function distance(ms: number): string {
  for (const [unit, size] of UNITS) {
    const count = Math.floor(Math.abs(ms) / size)
    if (count > 0) return inWords(`${count} ${unit}${count === 1 ? '' : 's'}`, ms)
  }
  return ms > 0 ? 'in a moment' : 'just now'
}

function inWords(text: string, ms: number): string {
  return ms < 0 ? `${text} ago` : `in ${text}`
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
