import type { z } from 'zod'
import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { Account } from '../../gateway/domain/keys/account.ts'
import type { Act } from '../../gateway/domain/keys/act.ts'
import { type AdminKey, isAdminKeyId } from '../../gateway/domain/keys/admin-key.ts'
import type { ChangeEvent } from '../../gateway/domain/keys/change-event.ts'
import { accountIdOf, isAccountId, type Key, type Versioned } from '../../gateway/domain/keys/key.ts'
import { latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import { wholeKeys } from '../../gateway/store/accounts/whole-keys.ts'
import { ADMIN_KEY } from '../../gateway/store/admin-keys/admin-keys.ts'
import type { Tables } from '../../gateway/store/dynamodb/database.ts'
import { listEvents } from '../../gateway/store/events/list-events.ts'
import { type ChangeResult, KEY } from '../../gateway/store/keys/change-key.ts'
import { findByExternalId } from '../../gateway/store/keys/external-id.ts'
import { newestKeys, readMany } from '../../gateway/store/keys/newest-keys.ts'
import { type ItemsOf, readOne } from '../../gateway/store/keys/rotating-item.ts'
import { changeText } from '../settings/event-words.ts'
import { apiName } from '../settings/key-settings.ts'
import { weekCostOf } from '../usage/usage-reader.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { wrong } from './fields.ts'
import { keyDetail } from './key-shape.ts'
import type { Place } from './pages.ts'
import { versionTag } from './preconditions.ts'
import type { revokeBody } from './shapes/bodies.ts'
import type { EventShape } from './shapes/books.ts'
import type { KeyDetail } from './shapes/keys.ts'

export function inPath<K extends Versioned>(kind: Named<K>) {
  return (call: Call): Promise<K> => known(call, kind, call.path.id ?? '')
}

export async function keyInPath(call: Call): Promise<Key> {
  const first = await known(call, KEY, call.path.id ?? '')
  const [whole = first] = await wholeKeys(call.tables)([first], call.nowMs)
  return whole
}

export const accountInPath = inPath(ACCOUNT)

export async function accountNamed(call: Call, accountId: string | undefined): Promise<Account | undefined> {
  return accountId === undefined ? undefined : known(call, ACCOUNT, accountId, 'account')
}

/** The one with an id, which the caller gave as `param` if it was not in the path. */
export async function known<K extends Versioned>(
  { tables }: Call,
  kind: Named<K>,
  id: string,
  param?: string,
): Promise<K> {
  const key = await readOne(tables, kind)(id)
  // The pool of a key is no account, and a further lane of it no key.
  if (key?.id !== id || (kind.name === ACCOUNT.name && !isAccountId(id))) throw noSuch(kind.name, id, param)
  return key
}

type Named<K> = ItemsOf<K> & { readonly name: string }

export function kindOf(id: string): Named<Key | Account | AdminKey> {
  if (isAccountId(id)) return ACCOUNT
  return isAdminKeyId(id) ? ADMIN_KEY : KEY
}

export const isAccount = (owner: Key | Account): owner is Account => isAccountId(owner.id)

function noSuch(noun: string, id: string, param?: string): AdminError {
  return new AdminError('not_found', `There is no ${noun} '${id}'.`, { param })
}

export async function oneAskedFor(call: Call, { key_id, account }: Asked, verb: string) {
  if (key_id === undefined) return accountNamed(call, account)
  if (account !== undefined) throw wrong('account', `and key_id cannot be ${verb} together.`)
  return known(call, KEY, key_id, 'key_id')
}

/** The keys that a list is about; undefined for all keys. */
export async function keysAskedFor(call: Call, asked: Asked): Promise<Key[] | undefined> {
  const one = await oneAskedFor(call, asked, 'asked for')
  if (!one || !isAccount(one)) return one && [one]
  // Revoked keys are gone from the account's own list. Only the keys themselves know, so all are read.
  return (await Array.fromAsync(newestKeys(call.tables)())).filter((key) => accountIdOf(key) === one.id)
}

type Asked = { readonly key_id?: string | undefined; readonly account?: string | undefined }

export async function accountNames(tables: Tables, keys: Iterable<Key>): Promise<ReadonlyMap<string, string>> {
  const ids = new Set([...keys].flatMap((key) => accountIdOf(key) ?? []))
  return new Map((await readMany(tables, ACCOUNT, [...ids])).map(({ id, name }) => [id, name]))
}

/** The one of a kind with an external id, which is a list of one page. */
export async function* oneWith<K>(tables: Tables, kind: ItemsOf<K>, externalId: string, after?: Place) {
  const id = after ? undefined : await findByExternalId(tables)(externalId)
  const one = id === undefined ? undefined : await readOne(tables, kind)(id)
  if (one) yield one
}

export async function changed<K extends Versioned>(
  call: Call,
  id: string,
  result: ChangeResult<K>,
  externalId?: string | null,
): Promise<K> {
  if (result.changed && result.isSame) noteUnchanged(call, `${kindOf(id).name} ${id}`)
  if (result.changed) return result.key
  if (result.why === 'no_such_key') throw noSuch(kindOf(id).name, id)
  if (result.why === 'stale') throw await stale(call, result.key)
  if (result.why === 'revoked') {
    const key = await calledBy(call, id)
    if (isAccountId(id)) throw accountClosed(key)
    throw new AdminError('key_revoked', `The ${key} is revoked, and that is final.`)
  }
  const owner = await findByExternalId(call.tables)(externalId ?? '')
  throw await externalIdTaken(call, externalId ?? '', owner ?? '')
}

export function noteUnchanged({ warnings }: Call, what: string): void {
  warnings.push({ code: 'unchanged', param: null, message: `The ${what} is as it was: nothing was changed.` })
}

type Change<K> = (call: Call, id: string, act: Act) => Promise<ChangeResult<K>>

/** Acts that need nothing but whatever is in the path, which the answer shows: such as may be done twice, and final ones. */
export function changer<K extends Versioned & { readonly name: string }, Shown>(
  find: (call: Call) => Promise<K>,
  show: (call: Call, changed: K) => Promise<Shown>,
) {
  const now = (change: Change<K>) => async (call: Call) => {
    const { id } = await find(call)
    return show(call, await changed(call, id, await change(call, id, await call.newAct())))
  }
  const forGood = (change: Change<K>, warning: string) => async (call: Call, sent: z.output<typeof revokeBody>) => {
    const { id, name } = await find(call)
    if (sent.confirm !== name) throw wrong('confirm', `must be the name of the ${kindOf(id).name}. ${warning}`)
    return now(change)(call)
  }
  return { now, forGood }
}

/** The balance of a key is that of its account, and these words follow the command's name of that. */
export async function ofItsAccount(
  { tables }: Call,
  accountId: string,
  verb: string,
  words: readonly string[],
  param?: string,
) {
  const { name } = (await readOne(tables, ACCOUNT)(accountId)) ?? { name: accountId }
  const how = ['waybill accounts', verb, shellWord(name), ...words].join(' ')
  const message = `The key is one of the account ${name}, which has its balance: ${how}. Nothing was changed.`
  return new AdminError('invalid_request', message, { param })
}

/** Its kind and its name, as refusals tell them: who typed a name need not know the id. */
export async function calledBy({ tables }: Call, id: string): Promise<string> {
  const kind = kindOf(id)
  return `${kind.name} '${(await readOne(tables, kind)(id))?.name ?? id}'`
}

export function accountClosed(account: string, param?: string): AdminError {
  const message = `The ${account} is closed, and that is final. Nothing was changed.`
  return new AdminError('account_closed', message, { param })
}

export async function detailOf({ tables, nowMs }: Call, key: Key): Promise<KeyDetail> {
  const [weekCost, accounts] = await Promise.all([weekCostOf(tables, key, nowMs), accountNames(tables, [key])])
  return keyDetail(key, nowMs, weekCost, accounts)
}

/** A change that was made must not end in an error of further reads: then the key is shown without the badge 'low'. */
export async function changedDetail(call: Call, key: Key): Promise<KeyDetail> {
  const { tables, nowMs } = call
  const [whole = key] = await wholeKeys(tables)([key], nowMs).catch(() => [key])
  return detailOf(call, whole).catch(() => keyDetail(whole, nowMs, 0n, new Map()))
}

export async function externalIdTaken({ tables }: Call, externalId: string, ownerId: string): Promise<AdminError> {
  const kind = kindOf(ownerId)
  const owner = await readOne(tables, kind)(ownerId)
  const message = `The external id '${externalId}' is that of the ${kind.name} '${owner?.name ?? ownerId}'. No two keys or accounts can have the same one.`
  return new AdminError('external_id_taken', message, { param: 'external_id' })
}

export function changeOf({ before, after }: ChangeEvent): Pick<EventShape, 'before' | 'after'> {
  const told = (fields: object) => {
    const entries = Object.entries(fields).map(([name, value]) => [apiName(name), value])
    return entries.length === 0 ? null : Object.fromEntries(entries)
  }
  return { before: told(before), after: told(after) }
}

async function stale({ tables, nowMs }: Call, { id, version }: Versioned): Promise<AdminError> {
  const events = listEvents(tables)({ of: id, fromMs: 0, toMs: latestRowMs(nowMs) })
  const { value: last } = await events.next()
  await events.return()
  const who = last ? ` ${last.by} changed it at ${isoTime(last.atMs)}: ${changeText(changeOf(last))}.` : ''
  const message = `The ${kindOf(id).name} is at version ${version} now, so nothing was changed.${who} Look at it, and change that.`
  return new AdminError('stale_version', message, { headers: versionTag(version) })
}
