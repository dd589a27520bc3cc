import type { Input } from './commands.ts'
import { utcDay } from './ledger.ts'
import { momentOf, requestIdIn } from './stored-hold.ts'

type IsOpen = (keyId: string, requestId: string) => boolean

/** A clock that is an hour behind, the 15 minutes of a function, and one for its last write. */
const LATEST_MS = (60 + 15 + 1) * 60_000
const DAY_MS = 24 * 60 * 60_000

/**
 * AWS ends a function after 15 minutes, so nothing of a request begins so long after its day. An admitted request keeps its
 * day open, and its end may come whenever it comes.
 */
export function comesTooLate({ input }: { readonly input: object }, nowMs: number, isOpen: IsOpen): boolean {
  const requestId = beginningIn(input, isOpen)
  if (requestId === undefined) return false
  const midnightMs = Date.parse(utcDay(momentOf(requestId))) + DAY_MS
  return nowMs > midnightMs + LATEST_MS
}

/** The request that is admitted here, or that has its row without an admission. */
function beginningIn({ Item, UpdateExpression, ExpressionAttributeValues }: Input, isOpen: IsOpen): string | undefined {
  const open = UpdateExpression?.includes('ADD openHolds') && ExpressionAttributeValues?.[':open']
  if (open) return requestIdIn(open as Uint8Array)
  const { requestId, keyId = '' } = Item ?? {}
  return requestId?.startsWith('req_') && !isOpen(keyId as string, requestId) ? requestId : undefined
}
