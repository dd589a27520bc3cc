import { shellWord } from '../../gateway/domain/basics/shell-word.ts'
import { isoTime } from '../../gateway/domain/basics/time.ts'
import type { Account } from '../../gateway/domain/keys/account.ts'
import { isAccountId, type Key, type Versioned } from '../../gateway/domain/keys/key.ts'
import { latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import { ACCOUNT } from '../../gateway/store/accounts/account-item.ts'
import type { Tables } from '../../gateway/store/dynamodb/tables.ts'
import { listEvents } from '../../gateway/store/events/list-events.ts'
import { type ChangeResult, KEY, type Kind } from '../../gateway/store/keys/change-key.ts'
import { findByExternalId } from '../../gateway/store/keys/external-id.ts'
import { newestKeys, readMany } from '../../gateway/store/keys/newest-keys.ts'
import { readOne } from '../../gateway/store/keys/rotating-item.ts'
import { weekCostOf } from '../usage/usage-reader.ts'
import { AdminError } from './admin-error.ts'
import type { Call } from './call.ts'
import { wrong } from './fields.ts'
import { keyDetail } from './key-shape.ts'
import { versionTag } from './preconditions.ts'
import type { KeyDetail } from './shapes/keys.ts'

export function keyInPath(call: Call): Promise<Key> {
  return known(call, KEY, call.path.id ?? '')
}

export function accountInPath(call: Call): Promise<Account> {
  return known(call, ACCOUNT, call.path.id ?? '')
}

export async function keyNamed(call: Call, keyId: string | undefined): Promise<Key | undefined> {
  return keyId === undefined ? undefined : known(call, KEY, keyId, 'key_id')
}

export async function accountNamed(call: Call, accountId: string | undefined): Promise<Account | undefined> {
  return accountId === undefined ? undefined : known(call, ACCOUNT, accountId, 'account')
}

/** The one with an id, which the caller gave as `param` if it was not in the path. */
async function known<K extends Versioned>({ tables }: Call, kind: Kind<K>, id: string, param?: string): Promise<K> {
  const key = await readOne(tables, kind)(id)
  if (!key) throw noSuch(kind.name, id, param)
  return key
}

function noSuch(noun: string, id: string, param?: string): AdminError {
  return new AdminError('not_found', `There is no ${noun} '${id}'.`, param === undefined ? {} : { param })
}

/** The keys or the account that a list is about; undefined for all keys. */
export async function keysAskedFor(call: Call, { key_id, account: accountId }: Asked): Promise<Key[] | undefined> {
  if (key_id !== undefined && accountId !== undefined)
    throw wrong('account', 'and key_id cannot be asked for together.')
  const [key, account] = await Promise.all([keyNamed(call, key_id), accountNamed(call, accountId)])
  if (account) return keysOfAccount(call.tables, account.id)
  return key && [key]
}

type Asked = { readonly key_id?: string | undefined; readonly account?: string | undefined }

/** Also those that are revoked, and gone from the account's own list. Only the keys themselves know, so all are read. */
export async function keysOfAccount(tables: Tables, id: string): Promise<Key[]> {
  return (await Array.fromAsync(newestKeys(tables)())).filter(({ purse }) => purse?.accountId === id)
}

export async function accountNames(tables: Tables, keys: Iterable<Key>): Promise<ReadonlyMap<string, string>> {
  const ids = new Set([...keys].flatMap(({ purse }) => purse?.accountId ?? []))
  return new Map((await readMany(tables, ACCOUNT, [...ids])).map(({ id, name }) => [id, name]))
}

export const nounOf = (id: string) => (isAccountId(id) ? ACCOUNT : KEY).name

export async function changed<K extends Versioned>(
  call: Call,
  id: string,
  result: ChangeResult<K>,
  externalId?: string | null,
): Promise<K> {
  if (result.changed) return result.key
  if (result.why === 'no_such_key') throw noSuch(nounOf(id), id)
  if (result.why === 'stale') throw await stale(call, result.key)
  if (result.why === 'revoked') throw isAccountId(id) ? accountClosed(id) : revokedKey(id)
  const owner = await findByExternalId(call.tables)(externalId ?? '')
  throw externalIdTaken(externalId ?? '', owner ?? 'another')
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
  return new AdminError('conflict', message, param === undefined ? {} : { param })
}

const revokedKey = (id: string) => new AdminError('key_revoked', `The key ${id} is revoked, and that is final.`)

export function accountClosed(id: string, param?: string): AdminError {
  const message = `The account ${id} is closed, and that is final. Nothing was changed.`
  return new AdminError('account_closed', message, param === undefined ? {} : { param })
}

/** A change that was made must not end in an error of further reads: then the key is shown without the badge 'low'. */
export async function changedDetail({ tables, nowMs }: Call, key: Key): Promise<KeyDetail> {
  const [weekCost, accounts] = await Promise.all([
    weekCostOf(tables, key, nowMs).catch(() => 0n),
    accountNames(tables, [key]).catch(() => new Map<string, string>()),
  ])
  return keyDetail(key, nowMs, weekCost, accounts)
}

export function externalIdTaken(externalId: string, ownerId: string): AdminError {
  const message = `The external id '${externalId}' is that of the ${nounOf(ownerId)} ${ownerId}. No two keys or accounts can have the same one.`
  return new AdminError('external_id_taken', message, { param: 'external_id' })
}

/** Names the author of the earlier change, and the change. */
async function stale({ tables, nowMs }: Call, { id, version }: Versioned): Promise<AdminError> {
  const events = listEvents(tables)({ of: id, fromMs: 0, toMs: latestRowMs(nowMs) })
  const { value: last } = await events.next()
  await events.return()
  const who = last ? ` ${last.by} changed it at ${isoTime(last.atMs)}: ${changeText(last)}.` : ''
  return new AdminError(
    'stale_version',
    `The ${nounOf(id)} is at version ${version} now, so nothing was changed.${who} Look at it, and change that.`,
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
