import { useEffect, useState } from 'preact/hooks'

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
