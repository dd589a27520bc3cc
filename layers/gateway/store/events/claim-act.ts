import { isoTime } from '../../domain/basics/time.ts'
import type { Act } from '../../domain/keys/act.ts'
import { ITEMS } from '../../names.ts'
import { firstPut, putOnce } from '../dynamodb/conditional-writes.ts'
import type { Tables } from '../dynamodb/database.ts'

type ActClaim = { readonly act: Act; readonly digest: string }

const CLAIM_DAYS = 30
const DAY_SECONDS = 24 * 60 * 60

/** All who claim one name get the claim of the first. It is written before the act, and outlives a crash between. */
export function claimAct({ database, keys }: Tables) {
  return async (name: string, claim: ActClaim): Promise<ActClaim> => {
    const { act, digest } = claim
    const Item = {
      pk: `${ITEMS.claim}${name}`,
      sk: 'CLAIM',
      actId: act.id,
      at: isoTime(act.atMs),
      by: act.by,
      digest,
      expiresAt: Math.ceil(act.atMs / 1000) + CLAIM_DAYS * DAY_SECONDS,
    }
    const standing = await putOnce(database, firstPut(keys, Item))
    if (!standing) return claim
    const { actId, at, by, digest: first } = standing as typeof Item
    return { act: { ...act, id: actId, by, atMs: Date.parse(at) }, digest: first }
  }
}
