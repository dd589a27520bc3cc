import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AdminError } from '../../layers/admin/api/admin-error.ts'

/** Every answer has them: the page runs no foreign code, and is not framed, cached or leaked in a Referer. */
export const GUARD_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const

type Sent = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly method: string
  readonly isPage: boolean
}

/** Refuses requests that another page on this machine, or a name that was made to resolve to it, could send. */
export function refuseForeign({ headers, method, isPage }: Sent, port: number): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!hosts.includes(String(headers.host))) {
    throw new AdminError('host_not_allowed', `The Host header must be ${hosts.join(' or ')}.`)
  }
  const { origin } = headers
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    throw new AdminError('origin_not_allowed', 'Another page may not call this one.')
  }
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return
  // The browser may be sent to the page, which contains no secret.
  if (isPage && method === 'GET' && headers['sec-fetch-mode'] === 'navigate') return
  throw new AdminError('origin_not_allowed', 'Another page may not call this one.')
}

/** The launch token opens one session, once; the session's token goes with every call. */
export class Tokens {
  #launch: string | undefined = newToken()
  #session: string | undefined

  get launch(): string {
    return this.#launch ?? ''
  }

  exchange(launch: unknown): string | undefined {
    if (!isSame(launch, this.#launch)) return undefined
    this.#launch = undefined
    this.#session = newToken()
    return this.#session
  }

  opens(token: unknown): boolean {
    return isSame(token, this.#session)
  }
}

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** In constant time. */
export function isSame(given: unknown, expected: string | undefined): boolean {
  if (typeof given !== 'string' || expected === undefined) return false
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
