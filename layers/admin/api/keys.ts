import type { z } from 'zod'
import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import { ulidRandom } from '../../gateway/domain/basics/time.ts'
import { type Account, hasRoomFor, MOST_KEYS } from '../../gateway/domain/keys/account.ts'
import { newAct } from '../../gateway/domain/keys/act.ts'
import { accountIdOf, type Key, type Secret } from '../../gateway/domain/keys/key.ts'
import type { KeySettings, SettingChanges } from '../../gateway/domain/keys/key-settings.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../gateway/domain/keys/new-key.ts'
import { formatCredits } from '../../gateway/domain/money/money.ts'
import { BRAND } from '../../gateway/names.ts'
import { adoptKey } from '../../gateway/store/accounts/change-account.ts'
import { transfers } from '../../gateway/store/accounts/transfers.ts'
import { wholeKeys } from '../../gateway/store/accounts/whole-keys.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { WriteOutcomeUnknown } from '../../gateway/store/dynamodb/transact.ts'
import { KEY } from '../../gateway/store/keys/change-key.ts'
import { createKey, NotJoinable, SecretTaken } from '../../gateway/store/keys/create-key.ts'
import { keysWithReference } from '../../gateway/store/keys/grant-credits.ts'
import { newestKeys } from '../../gateway/store/keys/newest-keys.ts'
import { readKey } from '../../gateway/store/keys/read-key.ts'
import { endGrace as endGraceOf, revokeKey, rotateKey } from '../../gateway/store/keys/rotate-key.ts'
import { resumeKey, suspendKey } from '../../gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../gateway/store/keys/update-key.ts'
import { settingsIn, withoutNulls } from '../settings/key-settings.ts'
import { MOST_OF_A_LANE } from '../settings/setting-fields.ts'
import { SETTING_WORDS } from '../settings/setting-words.ts'
import { weekCosts } from '../usage/usage-reader.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import {
  accountClosed,
  accountNamed,
  accountNames,
  calledBy,
  changed,
  changedDetail,
  changer,
  detailOf,
  externalIdTaken,
  keyInPath,
  known,
  noteUnchanged,
  ofItsAccount,
  oneWith,
} from './changed-key.ts'
import { nothingToChange, wrong } from './fields.ts'
import { firstGrant } from './grants.ts'
import { keyShape, statusOf } from './key-shape.ts'
import { firstOf, listOf, type Place, placeOf, readPlace } from './pages.ts'
import { planDefaults } from './plans.ts'
import { claimedAct, expectedVersionOf } from './preconditions.ts'
import type { List } from './shapes/answers.ts'
import type { adoptBody, createKeyBody, rotateBody, updateKeyBody } from './shapes/bodies.ts'
import type { KeyDetail, KeyShape, KeyWithSecret } from './shapes/keys.ts'
import type { keysQuery } from './shapes/queries.ts'
import { warnOf } from './warnings.ts'

export async function list(call: Call, sent: z.output<typeof keysQuery>): Promise<List<KeyShape>> {
  const { tables, nowMs } = call
  const { limit, status } = sent
  const after = readPlace(sent.after, 'key')
  const account = await accountNamed(call, sent.account)
  const isWanted = (key: Key) =>
    (status === undefined || statusOf(key, nowMs) === status) && (!account || accountIdOf(key) === account.id)
  const pageSize = status === undefined && !account ? limit + 1 : undefined
  const keys = keysNamed(tables, sent, after) ?? newestKeys(tables)(after, pageSize)
  const [found, costs] = await Promise.all([firstOf(keys, limit + 1, isWanted), weekCosts(tables, nowMs)])
  const [rest, accounts] = await Promise.all([wholeKeys(tables)(found, nowMs), accountNames(tables, found)])
  return listOf(rest, limit, (key) => keyShape(key, nowMs, costs.get(key.id) ?? 0n, accounts), placeOf)
}

export async function get(call: Call): Promise<KeyDetail> {
  return detailOf(call, await keyInPath(call))
}

export async function create(call: Call, fields: z.output<typeof createKeyBody>): Promise<KeyWithSecret> {
  const { tables, nowMs, identity } = call
  const account = await accountNamed(call, fields.account)
  const defaults = await planDefaults(call, fields.plan ?? account?.plan)
  const given = { ...defaults, ...settingsIn(fields, nowMs) }
  const settings = { ...KEY_DEFAULTS, ...withoutNulls(given), name: fields.name }
  requireWithinLanes(settings)
  if (fields.account !== undefined) requireNoBalance(fields)
  const { credits, reference } = firstGrant(call, fields)
  const { secret, stored } = secretOf(call, fields)
  const { act, wasDoneTo } = await claimedAct(call)
  // The key has the id of the act, so that a repeated request makes the same key.
  const keyOf = (account: Account | undefined) =>
    newKey(
      { settings: { ...settings, lanes: 1 }, credits, prefix: BRAND.keyPrefix, stored, account },
      act.atMs,
      ulidRandom(act.id),
    )
  let key = keyOf(account)
  const wasDone = await wasDoneTo(key.id)
  if (!wasDone) {
    await warnOf(call, { ...fields, id: key.id, kind: KEY })
    if (account) requireRoom(await transfers(tables).makeRoom(account, settings.lanes), settings.lanes)
    const make = () => createKey(tables)(key, act, identity.allowance, reference)
    const again = (error: unknown) => {
      if (!(error instanceof NotJoinable)) return secretTaken(error)
      requireRoom(error.account)
      // It was suspended or resumed since it was read.
      key = keyOf(error.account)
      return make()
    }
    const result = await make().catch(again).catch(again)
    if (!result.created) throw await externalIdTaken(call, key.externalId ?? '', result.ownerId)
  }
  const now = (await readKey(tables)(key.id).catch(orDrafted)) ?? key
  return withSecret(call, await withLanes(now), { secret, stored, wasDone })

  /** The key begins with one lane. If this is cut off, the same request goes on here. */
  async function withLanes(made: Key): Promise<Key> {
    const { lanes } = settings
    if (lanes === 1 || made.lane || made.status === 'revoked') return made
    // Its event comes after that of the creation.
    const later = async () => newAct(act.by, act.atMs + 1, call.random(10), act.leftMs)
    return updated({ ...call, newAct: later }, made.id, { lanes })
  }

  /** For a secret that is made here, only the stored key tells if it is the one in force. */
  function orDrafted(error: unknown): Key {
    if (secret !== undefined || wasDone) throw new WriteOutcomeUnknown(error)
    return key
  }
}

export async function rotate(call: Call, fields: z.output<typeof rotateBody>): Promise<KeyWithSecret> {
  const { id } = await keyInPath(call)
  const { secret, stored } = secretOf(call, fields)
  const { act, wasDoneTo } = await claimedAct(call)
  const wasDone = await wasDoneTo(id)
  const rotated = () => rotateKey(call.tables)(id, stored, act, fields.grace_seconds * 1000)
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
  const expectedVersion = expectedVersionOf(call)
  const settings = settingsIn(fields, call.nowMs)
  if (Object.keys(settings).length === 0) throw nothingToChange()
  const key = await keyInPath(call)
  const [id, accountId] = [key.id, accountIdOf(key)]
  const { notifyBelow: level, lanes, rpm, maxConcurrent } = settings
  await planDefaults(call, settings.plan)
  if (lanes || rpm || maxConcurrent) requireWithinLanes({ ...key, ...settings })
  if (accountId && level) {
    throw await ofItsAccount(call, accountId, 'update', ['--notify-below', formatCredits(level)], 'notify_below')
  }
  await warnOf(call, { ...fields, id, kind: KEY })
  return changedDetail(call, await updated(call, id, settings, expectedVersion))
}

async function updated(call: Call, id: string, settings: SettingChanges, expectedVersion?: number): Promise<Key> {
  const result = await updateKey(call.tables)(id, settings, await call.newAct(), expectedVersion)
  if (result.changed || result.why !== 'account_full') return changed(call, id, result, settings.externalId)
  const key = await known(call, KEY, id)
  const account = await accountNamed(call, accountIdOf(key))
  throw noRoom(account as Account, (settings.lanes ?? 1) - (key.lane?.made ?? 1))
}

function requireWithinLanes({ lanes, ...limits }: Pick<KeySettings, 'lanes' | 'rpm' | 'maxConcurrent'>): void {
  for (const name of ['rpm', 'maxConcurrent'] as const) {
    const [got, most] = [limits[name], MOST_OF_A_LANE[name]]
    if (got <= most * lanes) continue
    throw wrong(
      SETTING_WORDS[name].field,
      `is ${got}, and may be at most ${most} for each lane, of which the key has ${lanes}: lower it, or raise lanes to ${Math.ceil(got / most)}.`,
    )
  }
}

const { now, forGood } = changer(keyInPath, changedDetail)

export const endGrace = now(({ tables }, id, act) => endGraceOf(tables)(id, act))
export const suspend = now(({ tables }, id, act) => suspendKey(tables)(id, act))
export const revoke = forGood(({ tables }, id, act) => revokeKey(tables)(id, act), 'A revoke is final.')

export async function resume(call: Call): Promise<KeyDetail> {
  const key = await now(({ tables }, id, act) => resumeKey(tables)(id, act))(call)
  if (key.status !== 'suspended') return key
  const message = `The key '${key.name}' is suspended with its account ${key.account_name}, and goes on with it: waybill accounts resume ${shellWord(key.account_name ?? '')}.`
  throw new AdminError('conflict', message)
}

/** Asked again after a lost answer, it finds the key where it is to be. */
export async function adopt(call: Call, { account: accountId }: z.output<typeof adoptBody>): Promise<KeyDetail> {
  const { id, name } = await keyInPath(call)
  await accountNamed(call, accountId)
  const result = await adoptKey(call.tables)(id, accountId, await call.newAct())
  if (!result.changed && result.why === 'not_joinable') {
    requireRoom(result.account)
    const message = `The account '${result.account.name}' is suspended. Resume it first. Nothing was changed.`
    throw new AdminError('conflict', message)
  }
  if (!result.changed && result.why === 'has_lanes') {
    const message = `The key '${name}' has lanes of its own, or had, and stays alone. Make a new key in the account. Nothing was changed.`
    throw new AdminError('conflict', message)
  }
  if (result.changed || result.why !== 'has_account') return changedDetail(call, await changed(call, id, result))
  const { key } = result
  if (accountIdOf(key) === accountId) {
    noteUnchanged(call, `key ${id}`)
    return changedDetail(call, key)
  }
  const message = `The key '${name}' is one of the ${await calledBy(call, accountIdOf(key) ?? '')}, and a key never changes its account. Make a new key there. Nothing was changed.`
  throw new AdminError('conflict', message, { param: 'account' })
}

function requireRoom(account: Account, purses = 1): void {
  if (account.status === 'revoked') throw accountClosed(`account '${account.name}'`, 'account')
  if (!hasRoomFor(account, purses)) throw noRoom(account, purses)
}

function noRoom({ name, marks }: Account, purses: number): AdminError {
  const room = MOST_KEYS - Object.keys(marks).length
  const message = `The account '${name}' has room for ${room} more purses, and ${purses} would be needed. It can have ${MOST_KEYS}: one for each key, and one for each further lane of a key. Revoke a key that is not used.`
  return new AdminError('conflict', message, { param: 'account' })
}

function requireNoBalance({ credits, notify_below }: z.output<typeof createKeyBody>): void {
  if (credits) throw wrong('credits', 'are those of the account. Grant to it: waybill accounts grant NAME CREDITS.')
  if (notify_below) throw wrong('notify_below', 'is that of the account. Set it there: waybill accounts update NAME.')
}

export function secretTaken(error: unknown): never {
  if (!(error instanceof SecretTaken)) throw error
  throw new AdminError('conflict', 'This secret is that of another key. Make a new one.', { param: 'secret_sha256' })
}

/** The keys with an external id, of which there is one at most, or with a reference, newest first; undefined for all keys. */
function keysNamed(tables: Tables, { external_id, reference }: z.output<typeof keysQuery>, after?: Place) {
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
