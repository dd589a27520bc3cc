import { isDeepStrictEqual } from 'node:util'
import type { Act } from '../../domain/keys/act.ts'
import type { Key, Versioned } from '../../domain/keys/key.ts'
import type { SettingChanges } from '../../domain/keys/key-settings.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { expiryClock } from '../notices/expiry-clock.ts'
import { type ChangeResult, changeKey, KEY, type KeyChange } from './change-key.ts'
import { findByExternalId, freeExternalId, takeExternalId } from './external-id.ts'
import { SWEEP_AT_ONCE } from './key-item.ts'

/** Settings that are as they shall be are no change, and leave no event. With `expectedVersion`, only that version is changed. */
export function updateKey(tables: Tables) {
  const change = changeKey(tables, KEY, 'key.update')
  return (keyId: string, settings: SettingChanges, act: Act, expectedVersion?: number): Promise<ChangeResult> => {
    const decide = (key: Key) => {
      const changes = settingChange(tables, key, settings)
      if (!changes) return undefined
      return { ...changes, alsoWrite: [...changes.alsoWrite, ...setClock(key, settings.expiresAtMs)] }
    }
    return change(keyId, act, decide, expectedVersion)
  }

  /** An expiry that is removed leaves a clock, which the sweep stops. */
  function setClock({ id, expiresAtMs: before }: Key, expiresAtMs: number | null | undefined) {
    const isSet = expiresAtMs && expiresAtMs !== before
    return isSet ? [{ Put: { TableName: tables.keys, Item: expiryClock(id, expiresAtMs) } }] : []
  }
}

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
