import { createHash } from 'node:crypto'
import type { Act } from '../../gateway/domain/keys/act.ts'
import { claimAct } from '../../gateway/store/events/claim-act.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/**
 * The act that the caller's Idempotency-Key stands for. It has its id and its time before anything is changed, so that
 * a retry, after a lost answer or a crash, or at the same time, does the same act; the store does it once. `isRepeated`: it
 * was asked for before and may be done already.
 */
export async function claimedAct(call: Call): Promise<{ readonly act: Act; readonly isRepeated: boolean }> {
  const { headers, digest, tables } = call
  const name = headers['idempotency-key']
  if (name === undefined) {
    throw new AdminError(
      'idempotency_key_missing',
      'This needs the header Idempotency-Key, a text of your own that stays the same when you ask again, so that it is done once.',
    )
  }
  if (!IDEMPOTENCY_KEY.test(name)) {
    throw new AdminError('invalid_request', 'The Idempotency-Key must be 1 to 255 characters of ASCII without spaces.')
  }
  const drafted = await call.newAct()
  const id = createHash('sha256').update(`${drafted.by}\0${name}`).digest('hex')
  const claim = await claimAct(tables)(id, { act: drafted, digest })
  if (claim.digest !== digest) {
    throw new AdminError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request. Use a new one for what is new, and the same body to ask again.',
    )
  }
  return { act: claim.act, isRepeated: claim.act.id !== drafted.id }
}

export function expectedVersionOf({ headers }: Call): number {
  const text = headers['if-match']
  if (text === undefined) {
    throw new AdminError(
      'version_required',
      'This needs the header If-Match with the version that you have seen, such as "7", so that no change of somebody else is lost.',
    )
  }
  const [, digits] = /^"(\d{1,15})"$/.exec(text) ?? []
  if (digits === undefined)
    throw new AdminError('invalid_request', 'If-Match must be a version in quotes, such as "7".')
  return Number(digits)
}

export function versionTag(version: number): { readonly ETag: string } {
  return { ETag: `"${version}"` }
}
