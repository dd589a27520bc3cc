import type { Key } from '../../gateway/domain/key.ts'
import { isoTime } from '../../gateway/domain/time.ts'
import { listEvents } from '../../gateway/store/events/events.ts'
import type { ChangeResult } from '../../gateway/store/keys/change-key.ts'
import { findByExternalId } from '../../gateway/store/keys/external-id.ts'
import { horizonOf } from '../usage/usage-rows.ts'
import { weekCostOf } from '../usage/week-costs.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { changeText } from './change-text.ts'
import { keyDetail } from './key-shape.ts'
import { knownKey, noSuchKey } from './known-key.ts'
import { versionTag } from './seen-version.ts'
import type { KeyDetail } from './shapes/keys.ts'

/** The key that the path names. */
export function keyInPath({ tables, path }: Call): Promise<Key> {
  return knownKey(tables, path.id ?? '')
}

/** The key that a query names, if it names one. */
export async function keyNamed({ tables }: Call, keyId: string | undefined): Promise<Key | undefined> {
  return keyId === undefined ? undefined : knownKey(tables, keyId, 'key_id')
}

/** The key after a change, or the refusal. */
export async function changedKey(
  call: Call,
  id: string,
  result: ChangeResult,
  externalId?: string | null,
): Promise<Key> {
  if (result.changed) return result.key
  if (result.why === 'no_such_key') throw noSuchKey(id)
  if (result.why === 'stale') throw await stale(call, result.key)
  if (result.why === 'revoked') throw new AdminError('key_revoked', `The key ${id} is revoked, and that is final.`)
  const owner = await findByExternalId(call.tables)(externalId ?? '')
  throw externalIdTaken(externalId ?? '', owner ?? 'another')
}

/** A change that was made must not end in a failure to look at more than the key: then it is shown without the badge 'low'. */
export async function changedDetail({ tables, nowMs }: Call, key: Key): Promise<KeyDetail> {
  const weekCost = await weekCostOf(tables, key.id, nowMs).catch(() => 0n)
  return keyDetail(key, nowMs, weekCost)
}

export function externalIdTaken(externalId: string, ownerId: string): AdminError {
  const message = `The external id '${externalId}' is that of the key ${ownerId}. Two keys cannot have the same one.`
  return new AdminError('external_id_taken', message, { param: 'external_id' })
}

/** Says who came first, and with what. */
async function stale({ tables, nowMs }: Call, { id, version }: Key): Promise<AdminError> {
  const events = listEvents(tables)({ of: id, fromMs: 0, toMs: horizonOf(nowMs) })
  const { value: last } = await events.next()
  await events.return()
  const who = last ? ` ${last.by} changed it at ${isoTime(last.atMs)}: ${changeText(last)}.` : ''
  return new AdminError(
    'stale_version',
    `The key is at version ${version} now, so nothing was changed.${who} Look at it, and change that.`,
    { headers: versionTag(version) },
  )
}
