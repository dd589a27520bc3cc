import { useEffect, useState } from 'preact/hooks'

export type Zone = 'local' | 'utc'

const STORED = 'waybill.zone'
const CHANGED = 'waybill:zone'

export function chosenZone(): Zone {
  return localStorage.getItem(STORED) === 'utc' ? 'utc' : 'local'
}

export function chooseZone(zone: Zone): void {
  localStorage.setItem(STORED, zone)
  dispatchEvent(new Event(CHANGED))
}

/** Every moment on the page follows the switch at once. */
export function useZone(): Zone {
  const [zone, setZone] = useState(chosenZone)
  useEffect(() => {
    const changed = () => setZone(chosenZone())
    addEventListener(CHANGED, changed)
    return () => removeEventListener(CHANGED, changed)
  }, [])
  return zone
}
