import type { z } from 'zod'
import { ulidRandom } from '../../gateway/domain/basics/ulid.ts'
import type { Key, Secret } from '../../gateway/domain/keys/key.ts'
import type { KeySettings, SettingChanges } from '../../gateway/domain/keys/key-settings.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../gateway/domain/keys/new-key.ts'
import type { Reference } from '../../gateway/domain/keys/reference.ts'
import type { Nano } from '../../gateway/domain/money/money.ts'
import { BRAND } from '../../gateway/names.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { WriteOutcomeUnknown } from '../../gateway/store/dynamodb/transact.ts'
import { findEvent } from '../../gateway/store/events/events.ts'
import { createKey, SecretTaken } from '../../gateway/store/keys/create-key.ts'
import { findByExternalId } from '../../gateway/store/keys/external-id.ts'
import { keysWithReference } from '../../gateway/store/keys/grant-credits.ts'
import { newestKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { endGrace as endGraceOf, revokeKey, rotateKey } from '../../gateway/store/keys/rotate-key.ts'
import { resumeKey, suspendKey } from '../../gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../gateway/store/keys/update-key.ts'
import { settingsIn } from '../settings/key-settings.ts'
import { weekCostOf, weekCosts } from '../usage/usage-reader.ts'
import { AdminError } from './admin-error.ts'
import { type Call, requireScope } from './call.ts'
import { changedDetail, changedKey, externalIdTaken, keyInPath } from './changed-key.ts'
import { wrong } from './fields.ts'
import { keyDetail, keyShape, statusOf } from './key-shape.ts'
import { cursorOf, firstOf, listOf, readCursor } from './pages.ts'
import { claimedAct, expectedVersionOf } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { createKeyBody, revokeBody, rotateBody, updateKeyBody } from './shapes/bodies.ts'
import type { KeyDetail, KeyShape, KeyWithSecret } from './shapes/keys.ts'
import type { keysQuery } from './shapes/queries.ts'

/** Newest first. */
export async function list({ tables, nowMs }: Call, sent: z.output<typeof keysQuery>): Promise<List<KeyShape>> {
  const { limit, status } = sent
  const [afterMs, id] = readCursor(sent.after, /^\d{1,15}$/, /^key_\w{1,40}$/) ?? []
  const after = id === undefined ? undefined : { createdAtMs: Number(afterMs), id }
  const isWanted = (key: Key) => status === undefined || statusOf(key, nowMs) === status
  const pageSize = status === undefined ? limit + 1 : undefined
  const keys = keysNamed(tables, sent, after?.id) ?? newestKeys(tables)(after, pageSize)
  const [rest, costs] = await Promise.all([firstOf(keys, limit + 1, isWanted), weekCosts(tables, nowMs)])
  const shape = (key: Key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n)
  return listOf(rest, limit, shape, (key) => cursorOf(key.createdAtMs, key.id))
}

export async function get(call: Call): Promise<KeyDetail> {
  const { tables, nowMs } = call
  const key = await keyInPath(call)
  return keyDetail(key, nowMs, await weekCostOf(tables, key, nowMs))
}

export async function create(call: Call, fields: z.output<typeof createKeyBody>): Promise<KeyWithSecret> {
  const { tables, nowMs, identity } = call
  const settings = { ...KEY_DEFAULTS, ...withoutNulls(settingsIn(fields, nowMs)), name: fields.name }
  const credits = fields.credits ?? 0n
  // A key that begins with credits is a grant as well.
  if (credits > 0n) requireScope(identity, 'credits.grant')
  const reference = firstReference(fields.reference, credits)
  const { secret, stored } = secretOf(call, fields)
  const { act, isRepeated } = await claimedAct(call)
  // The key has the id of the act, so that a repeated request makes the same key.
  const key = newKey({ settings, credits, prefix: BRAND.keyPrefix, stored }, act.atMs, ulidRandom(act.id))
  const wasDone = isRepeated && (await findEvent(tables)(key.id, act.id)) !== undefined
  if (!wasDone) {
    const result = await createKey(tables)(key, act, identity.allowance, reference).catch(secretTaken)
    if (!result.created) throw externalIdTaken(key.externalId ?? '', result.ownerId)
  }
  const now = (await readKey(tables)(key.id).catch(orDrafted)) ?? key
  return withSecret(call, now, { secret, stored, wasDone })

  /** For a secret that is made here, only the stored key tells if it is the one in force. */
  function orDrafted(error: unknown): Key {
    if (secret !== undefined || wasDone) throw new WriteOutcomeUnknown(error)
    return key
  }
}

export async function rotate(call: Call, fields: z.output<typeof rotateBody>): Promise<KeyWithSecret> {
  const { tables } = call
  const graceMs = fields.grace_seconds * 1000
  const { id } = await keyInPath(call)
  const { secret, stored } = secretOf(call, fields)
  const { act, isRepeated } = await claimedAct(call)
  const wasDone = isRepeated && (await findEvent(tables)(id, act.id)) !== undefined
  const rotated = () => rotateKey(tables)(id, stored, act, graceMs)
  const key = wasDone ? await keyInPath(call) : await changedKey(call, id, await rotated())
  return withSecret(call, key, { secret, stored, wasDone })
}

/** A key that begins without credits has no grant that a reference could be of. */
function firstReference(text: string | undefined, credits: Nano): Reference | undefined {
  if (text === undefined) return undefined
  if (credits === 0n) throw wrong('reference', 'is that of a grant: give credits, too.')
  return { text, isAgain: false }
}

/** A new key has no settings to remove. */
function withoutNulls(changes: SettingChanges): Partial<KeySettings> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null))
}

/** A secret of the caller's, of which only the hash is known here, or one that is made now. */
function secretOf(
  { random }: Call,
  fields: { secret_sha256?: string | undefined; last_four?: string | undefined },
): { secret?: string; stored: Secret } {
  const { secret_sha256: hash, last_four: lastFour } = fields
  if (hash === undefined && lastFour === undefined) return issueSecret(BRAND.keyPrefix, random)
  if (hash === undefined) throw wrong('secret_sha256', 'is missing.')
  if (lastFour === undefined) throw wrong('last_four', 'is missing.')
  return { stored: { hash, lastFour } }
}

type Outcome = { secret?: string | undefined; stored: Secret; wasDone: boolean }

/** A secret is returned only if it is the one in force: of two concurrent requests, only one has set it. */
async function withSecret(call: Call, key: Key, { secret, stored, wasDone }: Outcome): Promise<KeyWithSecret> {
  const isOurs = !wasDone && key.current.hash === stored.hash
  return {
    ...(await changedDetail(call, key)),
    secret: isOurs && secret !== undefined ? secret : null,
    replayed: !isOurs,
  }
}

export async function update(call: Call, fields: z.output<typeof updateKeyBody>): Promise<KeyDetail> {
  const { tables, nowMs } = call
  const expectedVersion = expectedVersionOf(call)
  const settings = settingsIn(fields, nowMs)
  if (Object.keys(settings).length === 0) throw new AdminError('invalid_request', 'The body says nothing to change.')
  const { id } = await keyInPath(call)
  const result = await updateKey(tables)(id, settings, await call.newAct(), expectedVersion)
  return changedDetail(call, await changedKey(call, id, result, settings.externalId))
}

export const endGrace = changeNow(endGraceOf)
export const suspend = changeNow(suspendKey)
export const resume = changeNow(resumeKey)

/** An act that may be done twice, and needs nothing but the key. */
function changeNow(change: typeof suspendKey) {
  return async (call: Call): Promise<KeyDetail> => {
    const { id } = await keyInPath(call)
    const result = await change(call.tables)(id, await call.newAct())
    return changedDetail(call, await changedKey(call, id, result))
  }
}

export async function revoke(call: Call, { confirm }: z.output<typeof revokeBody>): Promise<KeyDetail> {
  const { name } = await keyInPath(call)
  if (confirm !== name) throw wrong('confirm', 'must be the name of the key. A revoke is final.')
  return changeNow(revokeKey)(call)
}

export function secretTaken(error: unknown): never {
  if (!(error instanceof SecretTaken)) throw error
  throw new AdminError('conflict', 'This secret is that of another key. Make a new one.', { param: 'secret_sha256' })
}

type Named = Pick<z.output<typeof keysQuery>, 'external_id' | 'reference'>

/** The keys with an external id, of which there is one at most, or with a reference, newest first; undefined for all keys. */
function keysNamed(tables: Tables, { external_id, reference }: Named, afterId?: string) {
  if (external_id !== undefined && reference !== undefined) {
    throw wrong('reference', 'and external_id cannot be asked for together.')
  }
  if (reference !== undefined) return keysOf(tables, keysWithReference(tables)(reference, afterId))
  if (external_id !== undefined) return keysOf(tables, afterId === undefined ? keyWith(tables, external_id) : [])
  return undefined
}

async function* keyWith(tables: Tables, externalId: string): AsyncGenerator<string> {
  const keyId = await findByExternalId(tables)(externalId)
  if (keyId !== undefined) yield keyId
}

async function* keysOf(
  tables: Tables,
  keyIds: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<Key, void, undefined> {
  for await (const keyId of keyIds) {
    const key = await readKey(tables)(keyId)
    if (key) yield key
  }
}
