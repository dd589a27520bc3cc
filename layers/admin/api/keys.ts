import type { z } from 'zod'
import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import { ulidRandom } from '../../gateway/domain/basics/ulid.ts'
import { type Account, MOST_KEYS } from '../../gateway/domain/keys/account.ts'
import type { Key, Secret } from '../../gateway/domain/keys/key.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../gateway/domain/keys/new-key.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { BRAND } from '../../gateway/names.ts'
import { adoptKey } from '../../gateway/store/accounts/change-account.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { WriteOutcomeUnknown } from '../../gateway/store/dynamodb/transact.ts'
import { findEvent } from '../../gateway/store/events/events.ts'
import { KEY } from '../../gateway/store/keys/change-key.ts'
import { createKey, NotJoinable, SecretTaken } from '../../gateway/store/keys/create-key.ts'
import { keysWithReference } from '../../gateway/store/keys/grant-credits.ts'
import { newestKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { endGrace as endGraceOf, revokeKey, rotateKey } from '../../gateway/store/keys/rotate-key.ts'
import { resumeKey, suspendKey } from '../../gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../gateway/store/keys/update-key.ts'
import { settingsIn, withoutNulls } from '../settings/key-settings.ts'
import { weekCostOf, weekCosts } from '../usage/usage-reader.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import {
  accountClosed,
  accountNamed,
  accountNames,
  changed,
  changedDetail,
  externalIdTaken,
  keyInPath,
  ofItsAccount,
  oneWith,
} from './changed-key.ts'
import { nothingToChange, wrong } from './fields.ts'
import { firstGrant } from './grants.ts'
import { keyDetail, keyShape, statusOf } from './key-shape.ts'
import { firstOf, listOf, type Place, placeOf, readPlace } from './pages.ts'
import { claimedAct, expectedVersionOf } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { adoptBody, createKeyBody, revokeBody, rotateBody, updateKeyBody } from './shapes/bodies.ts'
import type { KeyDetail, KeyShape, KeyWithSecret } from './shapes/keys.ts'
import type { keysQuery } from './shapes/queries.ts'

/** Newest first. */
export async function list(call: Call, sent: z.output<typeof keysQuery>): Promise<List<KeyShape>> {
  const { tables, nowMs } = call
  const { limit, status } = sent
  const after = readPlace(sent.after, 'key')
  const account = await accountNamed(call, sent.account)
  const isWanted = (key: Key) =>
    (status === undefined || statusOf(key, nowMs) === status) && (!account || key.purse?.accountId === account.id)
  const pageSize = status === undefined && !account ? limit + 1 : undefined
  const keys = keysNamed(tables, sent, after) ?? newestKeys(tables)(after, pageSize)
  const [rest, costs] = await Promise.all([firstOf(keys, limit + 1, isWanted), weekCosts(tables, nowMs)])
  const accounts = await accountNames(tables, rest)
  const shape = (key: Key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n, accounts)
  return listOf(rest, limit, shape, placeOf)
}

export async function get(call: Call): Promise<KeyDetail> {
  const { tables, nowMs } = call
  const key = await keyInPath(call)
  const [weekCost, accounts] = await Promise.all([weekCostOf(tables, key, nowMs), accountNames(tables, [key])])
  return keyDetail(key, nowMs, weekCost, accounts)
}

export async function create(call: Call, fields: z.output<typeof createKeyBody>): Promise<KeyWithSecret> {
  const { tables, nowMs, identity } = call
  const settings = { ...KEY_DEFAULTS, ...withoutNulls(settingsIn(fields, nowMs)), name: fields.name }
  if (fields.account !== undefined) requireNoBalance(fields)
  const { credits, reference } = firstGrant(call, fields)
  const { secret, stored } = secretOf(call, fields)
  const { act, isRepeated } = await claimedAct(call)
  const account = await accountNamed(call, fields.account)
  // The key has the id of the act, so that a repeated request makes the same key.
  const keyOf = (account: Account | undefined) =>
    newKey({ settings, credits, prefix: BRAND.keyPrefix, stored, account }, act.atMs, ulidRandom(act.id))
  let key = keyOf(account)
  const wasDone = isRepeated && (await findEvent(tables)(key.id, act.id)) !== undefined
  if (!wasDone) {
    const make = () => createKey(tables)(key, act, identity.allowance, reference)
    const again = (error: unknown) => {
      if (!(error instanceof NotJoinable)) return secretTaken(error)
      requireRoom(error.account)
      // It was suspended or resumed since it was read.
      key = keyOf(error.account)
      return make()
    }
    const result = await make().catch(again).catch(again)
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
  const key = wasDone ? await keyInPath(call) : await changed(call, id, await rotated())
  return withSecret(call, key, { secret, stored, wasDone })
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
  if (Object.keys(settings).length === 0) throw nothingToChange()
  const { id, purse } = await keyInPath(call)
  const { notifyBelow: level } = settings
  if (purse && level) {
    throw await ofItsAccount(call, purse.accountId, 'update', ['--notify-below', formatCredits(level)], 'notify_below')
  }
  const result = await updateKey(tables)(id, settings, await call.newAct(), expectedVersion)
  return changedDetail(call, await changed(call, id, result, settings.externalId))
}

export const endGrace = changeNow(endGraceOf)
export const suspend = changeNow(suspendKey)

/** An act that may be done twice, and needs nothing but the key. */
function changeNow(change: typeof suspendKey) {
  return async (call: Call): Promise<KeyDetail> => {
    const { id } = await keyInPath(call)
    const result = await change(call.tables)(id, await call.newAct())
    return changedDetail(call, await changed(call, id, result))
  }
}

export async function resume(call: Call): Promise<KeyDetail> {
  const key = await changeNow(resumeKey)(call)
  if (key.status !== 'suspended') return key
  const message = `The key ${key.id} is suspended with its account ${key.account_name}, and goes on with it: waybill accounts resume ${shellWord(key.account_name ?? '')}.`
  throw new AdminError('conflict', message)
}

/** Asked again after a lost answer, it finds the key where it is to be. */
export async function adopt(call: Call, { account: accountId }: z.output<typeof adoptBody>): Promise<KeyDetail> {
  const { id } = await keyInPath(call)
  await accountNamed(call, accountId)
  const result = await adoptKey(call.tables)(id, accountId, await call.newAct())
  if (!result.changed && result.why === 'not_joinable') {
    requireRoom(result.account)
    throw new AdminError('conflict', `The account ${accountId} is suspended. Resume it first. Nothing was changed.`)
  }
  if (result.changed || result.why !== 'has_account') return changedDetail(call, await changed(call, id, result))
  const { key } = result
  if (key.purse?.accountId === accountId) return changedDetail(call, key)
  const message = `The key ${id} is one of the account ${key.purse?.accountId}, and a key never changes its account. Make a new key there. Nothing was changed.`
  throw new AdminError('conflict', message, { param: 'account' })
}

function requireRoom({ id, status, marks }: Account): void {
  if (status === 'revoked') throw accountClosed(id, 'account')
  if (Object.keys(marks).length < MOST_KEYS) return
  const message = `The account ${id} has ${MOST_KEYS} keys, the most that one can have. Revoke one that is not used, and ask again in a few minutes.`
  throw new AdminError('conflict', message, { param: 'account' })
}

/** The balance is the account's. */
function requireNoBalance({ credits, notify_below }: z.output<typeof createKeyBody>): void {
  if (credits) throw wrong('credits', 'are those of the account. Grant to it: waybill accounts grant NAME CREDITS.')
  if (notify_below) throw wrong('notify_below', 'is that of the account. Set it there: waybill accounts update NAME.')
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
function keysNamed(tables: Tables, { external_id, reference }: Named, after?: Place) {
  if (external_id !== undefined && reference !== undefined) {
    throw wrong('reference', 'and external_id cannot be asked for together.')
  }
  if (reference !== undefined) return keysOf(tables, keysWithReference(tables)(reference, after?.id))
  return external_id === undefined ? undefined : oneWith(tables, KEY, external_id, after)
}

async function* keysOf(tables: Tables, keyIds: AsyncIterable<string>): AsyncGenerator<Key, void, undefined> {
  for await (const keyId of keyIds) {
    const key = await readKey(tables)(keyId)
    if (key) yield key
  }
}
