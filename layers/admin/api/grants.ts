import type { z } from 'zod'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { REFERENCE_DAYS } from '../../gateway/domain/keys/reference.ts'
import { referenceDigest } from '../../gateway/domain/keys/reference-digest.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { findEvent } from '../../gateway/store/events/events.ts'
import { type GrantRecord, type GrantResult, grantCredits, listGrants } from '../../gateway/store/keys/grant-credits.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { changedDetail, changedKey, keyInPath } from './changed-key.ts'
import { cursorOf, listOf, readCursor } from './pages.ts'
import { claimedAct } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { grantBody } from './shapes/bodies.ts'
import type { GrantMade, GrantShape } from './shapes/keys.ts'
import type { grantsQuery } from './shapes/queries.ts'

type Sent = z.output<typeof grantBody>

/** Newest first. */
export async function list(call: Call, sent: z.output<typeof grantsQuery>): Promise<List<GrantShape>> {
  const { id } = await keyInPath(call)
  const { limit, reference } = sent
  const [after] = readCursor(sent.after, /^\w{1,40}$/) ?? []
  const grants = await Array.fromAsync(listGrants(call.tables)(id))
  const wanted = reference === undefined ? grants : grants.filter((grant) => isUnder(grant, reference))
  const rest = wanted.reverse().filter((grant) => after === undefined || grant.id < after)
  return listOf(rest, limit, grantShape, (grant) => cursorOf(grant.id))
}

export async function make(call: Call, sent: Sent): Promise<GrantMade> {
  const { tables, identity } = call
  const { credits, again } = sent
  const reference = sent.reference === undefined ? undefined : { text: sent.reference, isAgain: again }
  const { id } = await keyInPath(call)
  const { act, isRepeated } = await claimedAct(call)
  const wasDone = isRepeated && (await findEvent(tables)(id, act.id)) !== undefined
  const grant = () => grantCredits(tables)(id, credits, act, identity.allowance, reference)
  const key: Key = wasDone ? await keyInPath(call) : await grantedKey(call, id, await grant(), sent)
  return {
    ...grantShape({ id: act.id, credits, by: act.by, grantedAt: isoTime(act.atMs), reference: sent.reference }),
    key: await changedDetail(call, key),
    replayed: wasDone,
  }
}

async function grantedKey(call: Call, id: string, result: GrantResult, { credits, reference }: Sent): Promise<Key> {
  if (result.changed) return result.key
  if (result.why === 'reference_used') {
    const { earlier } = result
    const grant = earlier && ` (${formatCredits(earlier.credits)} at ${earlier.grantedAt}, by ${earlier.by})`
    throw new AdminError(
      'reference_used',
      `The key ${id} was granted credits under the reference '${reference}' within the last ${REFERENCE_DAYS} days${grant ?? ''}. Nothing was changed. If this is another grant, ask with again (--again).`,
      { param: 'reference' },
    )
  }
  if (result.why === 'not_available') {
    const { available } = result.key
    throw new AdminError(
      'credits_not_available',
      `The key ${id} has ${formatCredits(available)} credits available, and ${formatCredits(-credits)} cannot be taken back: those that are held for open requests or spent stay. Nothing was changed.`,
      { param: 'credits' },
    )
  }
  if (result.why === 'has_account') {
    throw new AdminError(
      'invalid_request',
      `The key ${id} has the credits of its account ${result.accountId}, and none of its own. Nothing was changed. Grant them to the account.`,
    )
  }
  return changedKey(call, id, result)
}

function isUnder(grant: GrantRecord, reference: string): boolean {
  return grant.reference !== undefined && referenceDigest(grant.reference) === referenceDigest(reference)
}

function grantShape({ id, credits, reference, by, grantedAt }: GrantRecord): GrantShape {
  return {
    object: 'grant',
    id,
    credits: formatCredits(credits),
    reference: reference ?? null,
    by,
    granted_at: grantedAt,
  }
}
