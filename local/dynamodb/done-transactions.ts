import { hash } from 'node:crypto'
import { toAttributes } from './attribute-values.ts'
import { DynamoDbError } from './failures.ts'
import { convertItems } from './members.ts'

export type Done = { readonly token: string; readonly fingerprint: string; readonly atMs: number }

/** "After 10 minutes, any request with the same client token is treated as a new request." */
export const TOKEN_KEPT_MS = 10 * 60_000

/** The transactions of the last minutes: one that is sent again with the same token is not carried out twice. */
export class DoneTransactions {
  private readonly byToken = new Map<string, Done>()

  has({ token, fingerprint, atMs }: Done): boolean {
    const done = this.byToken.get(token)
    if (!done || done.atMs < atMs - TOKEN_KEPT_MS) return false
    if (done.fingerprint === fingerprint) return true
    const message = 'The client token was used before, with other parameters'
    throw new DynamoDbError('IdempotentParameterMismatchException', message)
  }

  /** Tokens are added and forgotten in the order of their time. */
  add(done: Done): void {
    for (const [token, { atMs }] of this.byToken) {
      if (atMs >= done.atMs - TOKEN_KEPT_MS) break
      this.byToken.delete(token)
    }
    this.byToken.delete(done.token)
    this.byToken.set(done.token, done)
  }
}

/** Equal for equal requests only. */
export function fingerprintOf(items: readonly object[]): string {
  const converted = items.map((item) => convertItems(item as Readonly<Record<string, unknown>>, toAttributes))
  return hash('sha256', JSON.stringify(converted))
}
