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

export type Zone = 'local' | 'utc'

function kept<Value extends string>(name: string, usual: Value) {
  const choice = shared((localStorage.getItem(name) ?? usual) as Value)
  const choose = (value: Value) => {
    localStorage.setItem(name, value)
    choice.set(value)
  }
  // Another tab has chosen.
  addEventListener('storage', ({ key, newValue }) => key === name && choice.set((newValue ?? usual) as Value))
  return { ...choice, choose }
}

export const zone = /* @__PURE__ */ kept<Zone>('waybill.zone', 'local')

/** Addresses by their names, as JSON. */
export const views = /* @__PURE__ */ kept<string>('waybill.views', '{}')

export const theme = /* @__PURE__ */ kept<string>('waybill.theme', 'auto')
