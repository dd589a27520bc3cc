import { useEffect, useState } from 'preact/hooks'

/** A value that parts of the page share: those that use it are drawn anew when it changes. */
export function shared<T>(initial: T) {
  let value = initial
  const listeners = new Set<(now: T) => void>()
  return {
    get: () => value,
    set(now: T): void {
      value = now
      for (const listener of listeners) listener(now)
    },
    use(): T {
      const [now, setNow] = useState(value)
      useEffect(() => {
        listeners.add(setNow)
        return () => void listeners.delete(setNow)
      }, [])
      return now
    },
  }
}
