import { createHash } from 'node:crypto'
import { claimAct } from '../../gateway/store/events/claim-act.ts'
import { wasDone } from '../../gateway/store/events/events.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
const NO_KEY =
  'This needs the header Idempotency-Key, a text of your own that stays the same when you ask again, so that it is done once.'
const USED_KEY =
  'This Idempotency-Key was used for another request. Use a new one for what is new, and the same body to ask again.'
const NO_VERSION =
  'This needs the header If-Match with the version that you have seen, such as "7", so that no change of somebody else is lost.'

/**
 * The act that the caller's Idempotency-Key stands for. It has its id and its time before anything is changed, so that
 * a retry, after a lost answer or a crash, or at the same time, does the same act; the store does it once. `wasDoneTo`
 * tells if an earlier request has done it to whatever has the id.
 */
export async function claimedAct(call: Call) {
  const { headers, digest, tables } = call
  const name = headers['idempotency-key']
  if (name === undefined) throw new AdminError('idempotency_key_missing', NO_KEY)
  if (!IDEMPOTENCY_KEY.test(name)) {
    throw new AdminError('invalid_request', 'The Idempotency-Key must be 1 to 255 characters of ASCII without spaces.')
  }
  const drafted = await call.newAct()
  const id = createHash('sha256').update(`${drafted.by}\0${name}`).digest('hex')
  const claim = await claimAct(tables)(id, { act: drafted, digest })
  if (claim.digest !== digest) throw new AdminError('idempotency_key_reused', USED_KEY)
  const { act } = claim
  return { act, wasDoneTo: async (id: string) => act.id !== drafted.id && wasDone(tables, id, act) }
}

export function expectedVersionOf({ headers }: Call): number {
  const text = headers['if-match']
  if (text === undefined) throw new AdminError('version_required', NO_VERSION)
  const [, digits] = /^"(\d{1,15})"$/.exec(text) ?? []
  if (digits === undefined)
    throw new AdminError('invalid_request', 'If-Match must be a version in quotes, such as "7".')
  return Number(digits)
}

export function versionTag(version: number): { readonly ETag: string } {
  return { ETag: `"${version}"` }
}
