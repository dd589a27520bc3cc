/** It is stored for this origin alone: another port of this machine is another origin. */
const STORED = 'waybill.console'

/** The event of this window that the server no longer knows its token. */
export const SIGNED_OUT = 'waybill:signed-out'

export function sessionToken(): string | null {
  return localStorage.getItem(STORED)
}

export function endSession(): void {
  localStorage.removeItem(STORED)
  dispatchEvent(new Event(SIGNED_OUT))
}

/**
 * The launch token works once: it is exchanged for one of this origin, for all its tabs until the console ends, and
 * leaves the address at once. A cookie would go to every other port of this machine, too.
 */
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
