import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { Key } from '../../gateway/domain/keys/key.ts'
import { latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { listEvents } from '../../gateway/store/events/list-events.ts'
import type { ChangeResult } from '../../gateway/store/keys/change-key.ts'
import { findByExternalId } from '../../gateway/store/keys/external-id.ts'
import { readKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { weekCostOf } from '../usage/usage-reader.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { keyDetail } from './key-shape.ts'
import { versionTag } from './preconditions.ts'
import type { KeyDetail } from './shapes/keys.ts'

export function keyInPath(call: Call): Promise<Key> {
  return knownKey(call, call.path.id ?? '')
}

export async function keyNamed(call: Call, keyId: string | undefined): Promise<Key | undefined> {
  return keyId === undefined ? undefined : knownKey(call, keyId, 'key_id')
}

export async function keyNames(tables: Tables, ids: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  return new Map((await readKeys(tables, [...ids])).map(({ id, name }) => [id, name]))
}

/** The key with an id, which the caller gave as `param` if it was not in the path. */
async function knownKey({ tables }: Call, id: string, param?: string): Promise<Key> {
  const key = await readKey(tables)(id)
  if (!key) throw noSuchKey(id, param)
  return key
}

function noSuchKey(id: string, param?: string): AdminError {
  return new AdminError('not_found', `There is no key '${id}'.`, param === undefined ? {} : { param })
}

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

/** A change that was made must not end in an error of further reads: then the key is shown without the badge 'low'. */
export async function changedDetail({ tables, nowMs }: Call, key: Key): Promise<KeyDetail> {
  const weekCost = await weekCostOf(tables, key, nowMs).catch(() => 0n)
  return keyDetail(key, nowMs, weekCost)
}

export function externalIdTaken(externalId: string, ownerId: string): AdminError {
  const message = `The external id '${externalId}' is that of the key ${ownerId}. Two keys cannot have the same one.`
  return new AdminError('external_id_taken', message, { param: 'external_id' })
}

/** Names the author of the earlier change, and the change. */
async function stale({ tables, nowMs }: Call, { id, version }: Key): Promise<AdminError> {
  const events = listEvents(tables)({ of: id, fromMs: 0, toMs: latestRowMs(nowMs) })
  const { value: last } = await events.next()
  await events.return()
  const who = last ? ` ${last.by} changed it at ${isoTime(last.atMs)}: ${changeText(last)}.` : ''
  return new AdminError(
    'stale_version',
    `The key is at version ${version} now, so nothing was changed.${who} Look at it, and change that.`,
    { headers: versionTag(version) },
  )
}

type Fields = Readonly<Record<string, unknown>> | null

export function changeText({ before, after }: { readonly before: Fields; readonly after: Fields }): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names.map((name) => `${name} ${textOf(before?.[name])} → ${textOf(after?.[name])}`).join(', ')
}

function textOf(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '-'
  return Array.isArray(value) ? value.join(' ') : String(value)
}
