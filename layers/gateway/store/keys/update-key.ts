import { isDeepStrictEqual } from 'node:util'
import type { Act } from '../../domain/keys/act.ts'
import type { Key } from '../../domain/keys/key.ts'
import type { KeySettings, SettingChanges } from '../../domain/keys/key-settings.ts'
import type { Tables } from '../dynamodb/tables.ts'
import { expiryClock } from '../notices/expiry-clock.ts'
import { type ChangeResult, changeKey, KEY } from './change-key.ts'
import { findByExternalId, freeExternalId, takeExternalId } from './external-id.ts'
import { SWEEP_AT_ONCE } from './key-item.ts'

/** Settings that are as they shall be are no change, and leave no event. With `expectedVersion`, only that version is changed. */
export function updateKey(tables: Tables) {
  const change = changeKey(tables, KEY, 'key.update')
  return (keyId: string, settings: SettingChanges, act: Act, expectedVersion?: number): Promise<ChangeResult> => {
    const decide = (key: Key) => {
      const changes = Object.entries(settings).filter(
        ([name, value]) => value !== undefined && !isDeepStrictEqual(key[name as keyof KeySettings] ?? null, value),
      )
      if (changes.length === 0) return undefined
      const next = Object.fromEntries(changes) as SettingChanges
      return {
        set: {
          ...Object.fromEntries(changes.filter(([, value]) => value !== null)),
          // The balance may be below the level already.
          ...(next.notifyBelow && { sweepAt: SWEEP_AT_ONCE }),
        },
        remove: changes.flatMap(([name, value]) => (value === null ? [name] : [])),
        alsoWrite: [...moveExternalId(key, next.externalId), ...setClock(key, next.expiresAtMs)],
        whyNot: async () => ((await isOfAnother(key, next.externalId)) ? 'external_id_taken' : undefined),
      }
    }
    return change(keyId, act, decide, expectedVersion)
  }

  /** An expiry that is removed leaves a clock, which the sweep stops. */
  function setClock({ id }: Key, expiresAtMs: number | null | undefined) {
    return expiresAtMs ? [{ Put: { TableName: tables.keys, Item: expiryClock(id, expiresAtMs) } }] : []
  }

  async function isOfAnother({ id }: Key, externalId: string | null | undefined): Promise<boolean> {
    const owner = externalId ? await findByExternalId(tables)(externalId) : undefined
    return owner !== undefined && owner !== id
  }

  function moveExternalId({ id, externalId: before }: Key, next: string | null | undefined) {
    if (next === undefined) return []
    return [
      ...(before === undefined ? [] : [freeExternalId(tables, before)]),
      ...(next === null ? [] : [takeExternalId(tables, next, id)]),
    ]
  }
}
