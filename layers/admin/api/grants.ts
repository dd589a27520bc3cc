import type { z } from 'zod'
import type { Key } from '../../gateway/domain/key.ts'
import { formatCredits } from '../../gateway/domain/money.ts'
import { isoTime } from '../../gateway/domain/time.ts'
import { findEvent } from '../../gateway/store/events/events.ts'
import { type GrantRecord, grantCredits, listGrants } from '../../gateway/store/keys/grant-credits.ts'
import type { Answer, Call } from './call.ts'
import { changedDetail, changedKey, keyInPath } from './changed-key.ts'
import { cursorOf, listOf, readCursor } from './pages.ts'
import { claimedAct } from './preconditions.ts'
import type { grantBody } from './shapes/bodies.ts'
import type { GrantMade, GrantShape } from './shapes/keys.ts'
import type { pageQuery } from './shapes/queries.ts'

/** Newest first. */
export async function listGrantsPage(call: Call, sent: z.output<typeof pageQuery>): Promise<Answer> {
  const { id } = await keyInPath(call)
  const { limit } = sent
  const [after] = readCursor(sent.after, /^\w{1,40}$/) ?? []
  const grants = await Array.fromAsync(listGrants(call.tables)(id))
  const rest = grants.reverse().filter((grant) => after === undefined || grant.id < after)
  return { body: listOf(rest, limit, grantShape, (grant) => cursorOf(grant.id)) }
}

export async function grantOnce(call: Call, { credits }: z.output<typeof grantBody>): Promise<Answer> {
  const { tables, identity } = call
  const { id } = await keyInPath(call)
  const { act, isRepeated } = await claimedAct(call)
  const wasDone = isRepeated && (await findEvent(tables)(id, act.id)) !== undefined
  const grant = () => grantCredits(tables)(id, credits, act, identity.allowance)
  const key: Key = wasDone ? await keyInPath(call) : await changedKey(call, id, await grant())
  const made: GrantMade = {
    ...grantShape({ id: act.id, credits, by: act.by, grantedAt: isoTime(act.atMs) }),
    key: await changedDetail(call, key),
    replayed: wasDone,
  }
  return { status: 201, body: made }
}

function grantShape({ id, credits, by, grantedAt }: GrantRecord): GrantShape {
  return { object: 'grant', id, credits: formatCredits(credits), by, granted_at: grantedAt }
}
