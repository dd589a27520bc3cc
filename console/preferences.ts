import { useState } from 'preact/hooks'
import { useListener } from './use-listener.ts'

export type Zone = 'local' | 'utc'

const [THEME, ZONE] = ['waybill.theme', 'waybill.zone']
const ZONE_CHANGED = 'waybill:zone'

export function chosenTheme(): string {
  return localStorage.getItem(THEME) ?? 'auto'
}

export function chooseTheme(theme: string): void {
  localStorage.setItem(THEME, theme)
  applyTheme()
}

/** The style sheet follows the system, unless the root has another theme. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = chosenTheme()
}

export function chosenZone(): Zone {
  return localStorage.getItem(ZONE) === 'utc' ? 'utc' : 'local'
}

export function chooseZone(zone: string): void {
  localStorage.setItem(ZONE, zone)
  dispatchEvent(new Event(ZONE_CHANGED))
}

/** Every moment on the page follows the switch at once. */
export function useZone(): Zone {
  const [zone, setZone] = useState(chosenZone)
  useListener(ZONE_CHANGED, () => setZone(chosenZone()))
  return zone
}
