import type { Account } from '../../domain/keys/account.ts'
import type { Act } from '../../domain/keys/act.ts'
import { changeEvent, keyFields } from '../../domain/keys/change-event.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { Reference } from '../../domain/keys/reference.ts'
import { ACCOUNT } from '../accounts/account-item.ts'
import { addPurses, mayJoin } from '../accounts/purse-marks.ts'
import { transfers } from '../accounts/transfers.ts'
import { type Allowance, requireAllowance, takeAllowance } from '../admin-keys/allowance.ts'
import type { Tables } from '../dynamodb/database.ts'
import { putNew } from '../dynamodb/transact.ts'
import { makeOnce, putEvent } from '../events/events.ts'
import { expiryClock } from '../notices/expiry-clock.ts'
import { VersionConflict } from './change-key.ts'
import { findByExternalId, takeExternalId } from './external-id.ts'
import { grantEntry, grantFields, takeReference } from './grant-credits.ts'
import { hashItem, toItem } from './key-item.ts'
import { readOne } from './rotating-item.ts'

type CreateResult = { readonly created: true } | { readonly created: false; readonly ownerId: string }

/** The caller's secret is already the secret of a key. */
export class SecretTaken extends Error {}

/** The account of a new key was suspended, resumed or closed since it was read, or has too many keys. */
export class NotJoinable extends VersionConflict {
  readonly account: Account

  constructor(account: Account) {
    super(`The account ${account.id} is ${account.status}, and has ${Object.keys(account.marks).length} keys.`)
    this.account = account
  }
}

/**
 * The key, its hash, its external id, its first grant and its event appear together, unless another key has the
 * external id. With an allowance the first grant is taken from it, or an OverAllowance is thrown.
 */
export function createKey(tables: Tables) {
  const { keys } = tables
  return async (key: Key, act: Act, given?: Allowance, reference?: Reference): Promise<CreateResult> => {
    const { id: keyId, externalId } = key
    const allowance = key.granted > 0n ? given : undefined
    const after = { ...keyFields(key), ...grantFields(key.granted, reference) }
    const created = await makeOnce(tables, keyId, act, [
      putNew(keys, toItem(key)),
      ...(key.expiresAtMs === undefined ? [] : [putNew(keys, expiryClock(keyId, key.expiresAtMs))]),
      putNew(keys, { ...hashItem(key.current.hash), keyId }),
      ...(externalId === undefined ? [] : [takeExternalId(tables, externalId, keyId)]),
      ...(key.granted > 0n ? [putNew(keys, grantEntry(keyId, key.granted, act, reference))] : []),
      ...(reference ? [takeReference(tables, keyId, reference, act)] : []),
      ...putEvent(tables, changeEvent(act, 'key.create', { keyId, after })),
      ...(allowance ? takeAllowance(tables, allowance, key.granted) : []),
      ...(key.purse ? [addPurses(tables, [keyId], key.purse)] : []),
    ])
    if (created) return { created: true }
    const ownerId = externalId === undefined ? undefined : await findByExternalId(tables)(externalId)
    if (ownerId !== undefined) return { created: false, ownerId }
    const account = key.purse && (await readOne(tables, ACCOUNT)(key.purse.accountId))
    if (account && !mayJoin(account, key.purse)) throw new NotJoinable(await transfers(tables).makeRoom(account))
    if (allowance) await requireAllowance(tables, allowance, key.granted)
    throw new SecretTaken(`A key ${keyId} or its secret exists already.`)
  }
}
