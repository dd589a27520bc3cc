import { isDeepStrictEqual } from 'node:util'
import { COUNTER_NAMES } from '../../domain/admission/counters.ts'
import { hasRoomFor } from '../../domain/keys/account.ts'
import type { Act } from '../../domain/keys/act.ts'
import type { Key, Versioned } from '../../domain/keys/key.ts'
import type { SettingChanges } from '../../domain/keys/key-settings.ts'
import { laneAddress } from '../../domain/keys/lane.ts'
import { addPurses, makePool } from '../accounts/purse-marks.ts'
import { transfers } from '../accounts/transfers.ts'
import type { Tables } from '../dynamodb/database.ts'
import { expiryClock } from '../notices/expiry-clock.ts'
import { type ChangeResult, changeKey, KEY, type KeyChange } from './change-key.ts'
import { findByExternalId, freeExternalId, takeExternalId } from './external-id.ts'
import { SWEEP_AT_ONCE } from './key-item.ts'
import { beginDeal } from './lanes.ts'

/** Settings that are as they shall be are no change, and leave no event. With `expectedVersion`, only that version is changed. */
export function updateKey(tables: Tables) {
  const change = changeKey(tables, KEY, 'key.update')
  return async (keyId: string, settings: SettingChanges, act: Act, expectedVersion?: number): Promise<ChangeResult> => {
    const { lanes = 1, expiresAtMs } = settings
    // The lanes of a key are purses: its credits lie in a pool from now on.
    const pooled = lanes > 1 ? await makePool(tables)(keyId, act, expectedVersion) : undefined
    const decide = (key: Key) => {
      const changes = settingChange(tables, key, settings)
      if (!changes) return undefined
      return withDeal(tables, key, { ...changes, alsoWrite: [...changes.alsoWrite, ...setClock(key, expiresAtMs)] })
    }
    return change(keyId, act, decide, pooled ?? expectedVersion)
  }

  /** An expiry that is removed leaves a clock, which the sweep stops. */
  function setClock({ id, expiresAtMs: before }: Key, expiresAtMs: number | null | undefined) {
    const isSet = expiresAtMs && expiresAtMs !== before
    return isSet ? [{ Put: { TableName: tables.keys, Item: expiryClock(id, expiresAtMs) } }] : []
  }
}

const DEALT: ReadonlySet<string> = new Set(['lanes', 'rpm', 'maxConcurrent', ...COUNTER_NAMES])

/** A limit of a key with lanes, and their number, are dealt out anew. */
function withDeal(tables: Tables, key: Key, change: SettingsChange): KeyChange {
  const { lanes = key.lanes } = change.set as { readonly lanes?: number }
  const isDealt = [...Object.keys(change.set), ...change.remove].some((name) => DEALT.has(name))
  if (!isDealt || !key.purse || (lanes === 1 && !key.lane)) return change
  const before = key.lane?.made ?? 1
  const added = Array.from({ length: Math.max(0, lanes - before) }, (_, i) => laneAddress(key.id, before + i))
  const begun = beginDeal(key, { lanes: key.lanes, rpm: key.rpm }, before + added.length)
  const marks = added.length > 0 ? [addPurses(tables, added, key.purse)] : []
  const { accountId } = key.purse
  return {
    ...change,
    set: { ...change.set, ...begun },
    alsoWrite: [...change.alsoWrite, ...marks],
    whyNot: async () => {
      const { readAccount, makeRoom } = transfers(tables)
      const account = marks.length > 0 ? await readAccount(accountId) : undefined
      return account && !hasRoomFor(await makeRoom(account, added.length), added.length)
        ? 'account_full'
        : change.whyNot()
    },
  }
}

type SettingsChange = NonNullable<ReturnType<typeof settingChange>>

type Settings = { readonly externalId?: string | null | undefined; readonly notifyBelow?: bigint | null | undefined }

/** The change of a key, or an account, to these settings, of which null removes one; undefined if it has them. */
export function settingChange<Given extends Settings>(tables: Tables, owner: Versioned & Settings, settings: Given) {
  const changes = Object.entries(settings).filter(
    ([name, value]) =>
      value !== undefined && !isDeepStrictEqual((owner as Record<string, unknown>)[name] ?? null, value),
  )
  if (changes.length === 0) return undefined
  const { externalId: next, notifyBelow } = Object.fromEntries(changes) as Settings
  const { id, externalId: before } = owner
  return {
    set: {
      ...Object.fromEntries(changes.filter(([, value]) => value !== null)),
      // The balance may be below the level already.
      ...(notifyBelow && { sweepAt: SWEEP_AT_ONCE }),
    },
    remove: changes.flatMap(([name, value]) => (value === null ? [name] : [])),
    alsoWrite: [
      ...(next === undefined || !before ? [] : [freeExternalId(tables, before)]),
      ...(next ? [takeExternalId(tables, next, id)] : []),
    ],
    whyNot: async () => {
      const ownerId = next ? await findByExternalId(tables)(next) : undefined
      return ownerId !== undefined && ownerId !== id ? 'external_id_taken' : undefined
    },
  } satisfies KeyChange
}
