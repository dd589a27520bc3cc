import { ITEMS } from '../../contract.ts'
import type { Act } from '../../domain/act.ts'
import { isoTime } from '../../domain/time.ts'
import { isConditionFailed } from '../failures.ts'
import type { Tables } from '../tables.ts'

/** The act that a name stands for, and a digest of the request for it. */
export type ActClaim = { readonly act: Act; readonly digest: string }

/** All callers that claim one name get the claim of the first. It is written before the act, and outlives a crash between. */
type ClaimAct = (name: string, claim: ActClaim) => Promise<ActClaim>

/** The days for which a name stands for the same act. */
export const CLAIM_DAYS = 30
const DAY_SECONDS = 24 * 60 * 60

export function claimAct({ database, keys }: Tables): ClaimAct {
  return async (name, claim) => {
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
    try {
      await database.put({
        TableName: keys,
        Item,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      return claim
    } catch (error) {
      if (!isConditionFailed(error) || !error.Item) throw error
      const { actId, at, by, digest: first } = error.Item as typeof Item
      return { act: { ...act, id: actId, by, atMs: Date.parse(at) }, digest: first }
    }
  }
}
