import type { WhoAmI } from '../layers/admin/api/shapes/answers.ts'
import { shared } from './preferences.ts'

/** It is stored for this origin alone: another port of this machine is another origin. */
const STORED = 'waybill.console'

/** Another tab may have a new one meanwhile. */
export function sessionToken(): string | null {
  return localStorage.getItem(STORED)
}

export const hasEnded = /* @__PURE__ */ shared(false)

export function endSession(): void {
  localStorage.removeItem(STORED)
  hasEnded.set(true)
}

/** The launch token works once: for one that all tabs of this origin share. A cookie would go to every port of this machine. */
export async function beginSession(): Promise<void> {
  const launch = new URLSearchParams(location.hash.slice(1)).get('launch')
  if (!launch) return
  history.replaceState(null, '', location.pathname)
  const response = await fetch('/console/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ launch }),
  }).catch(() => undefined)
  if (!response?.ok) return
  const { token } = (await response.json()) as { token: string }
  localStorage.setItem(STORED, token)
}

/** Set before a page is shown to somebody, and undefined for nobody. */
export const identity = /* @__PURE__ */ shared<WhoAmI | undefined>(undefined)

export function identityHere(): WhoAmI {
  const known = identity.get()
  if (!known) throw new Error('A page is shown only when it is known who looks at it.')
  return known
}
