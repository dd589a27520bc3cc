import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The launch token opens one session, once; the session's token goes with every call. */
export class Tokens {
  #launch: string | undefined = newToken()
  #session: string | undefined

  /** For the operator's browser. */
  get launch(): string {
    return this.#launch ?? ''
  }

  /** The session's token, for a launch token that was not used yet. */
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

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** In constant time. */
function isSame(given: unknown, expected: string | undefined): boolean {
  if (typeof given !== 'string' || expected === undefined) return false
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
