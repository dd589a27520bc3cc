import type { z } from 'zod'
import { isoTime, ulidRandom } from '../../gateway/domain/basics/time.ts'
import { type AdminKey, newAdminKey } from '../../gateway/domain/keys/admin-key.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { BRAND } from '../../gateway/names.ts'
import { ADMIN_KEY, createAdminKey, revokeAdminKey, rotateAdminKey } from '../../gateway/store/admin-keys/admin-keys.ts'
import { allowanceAt, grantedOnDay } from '../../gateway/store/admin-keys/allowance.ts'
import { newest } from '../../gateway/store/keys/newest-keys.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { changed, changer, inPath } from './changed-key.ts'
import { previousShape } from './key-shape.ts'
import { secretTaken } from './keys.ts'
import { firstOf, listOf, placeOf, readPlace } from './pages.ts'
import { claimedAct } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { adminKeyBody, secretBody } from './shapes/bodies.ts'
import type { AdminKeyShape } from './shapes/keys.ts'
import type { pageQuery } from './shapes/queries.ts'
import { warnOf } from './warnings.ts'

export async function list(call: Call, { after, limit }: z.output<typeof pageQuery>): Promise<List<AdminKeyShape>> {
  const keys = await firstOf(newest(call.tables, ADMIN_KEY)(readPlace(after, 'adminkey'), limit + 1), limit + 1)
  const page = listOf(keys, limit, (key) => shapeOf(call, key), placeOf)
  return { ...page, data: await Promise.all(page.data) }
}

/** The secret is the caller's: only its hash comes here. */
export async function create(call: Call, fields: z.output<typeof adminKeyBody>): Promise<AdminKeyShape> {
  if (!call.takesKeys) {
    throw new AdminError('conflict', 'This stage takes no admin keys. Set adminKeys in its settings, and deploy it.')
  }
  const { name, scopes, allowlist, daily_grant: dailyGrant, secret_sha256: hash, last_four: lastFour } = fields
  const { act } = await claimedAct(call)
  const settings = { name, scopes, allowlist, dailyGrant }
  // The key has the id of the act, so that a repeated request makes the same key.
  const key = newAdminKey({ settings, stored: { hash, lastFour } }, act.atMs, ulidRandom(act.id))
  await warnOf(call, { id: key.id, name, kind: ADMIN_KEY })
  await createAdminKey(call.tables)(key, act).catch(secretTaken)
  return shapeOf(call, key)
}

const adminKeyInPath = inPath(ADMIN_KEY)

export async function rotate(
  call: Call,
  { secret_sha256: hash, last_four: lastFour }: z.output<typeof secretBody>,
): Promise<AdminKeyShape> {
  const { id } = await adminKeyInPath(call)
  const { act } = await claimedAct(call)
  return shapeOf(call, await changed(call, id, await rotateAdminKey(call.tables)(id, { hash, lastFour }, act)))
}

export const revoke = changer(adminKeyInPath, shapeOf).forGood(
  ({ tables }, id, act) => revokeAdminKey(tables)(id, act),
  'A revoke is final.',
)

async function shapeOf({ tables, nowMs }: Call, key: AdminKey): Promise<AdminKeyShape> {
  const { id, name, status, current, scopes, allowlist, dailyGrant, createdAtMs } = key
  return {
    object: 'admin_key',
    id,
    name,
    status,
    prefix: BRAND.adminKeyPrefix,
    last_four: current.lastFour,
    previous: previousShape(key, nowMs),
    scopes,
    allowlist,
    daily_grant: formatCredits(dailyGrant),
    granted_today: formatCredits(await grantedOnDay(tables)(allowanceAt(key, nowMs))),
    created_at: isoTime(createdAtMs),
  }
}
