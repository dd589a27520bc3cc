import { randomBytes } from 'node:crypto'
import type { Demand } from '../../../layers/gateway/domain/admission/admission.ts'
import type { ChangeEvent } from '../../../layers/gateway/domain/keys/change-event.ts'
import type { Key } from '../../../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../../../layers/gateway/domain/keys/key-settings.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../../../layers/gateway/domain/keys/new-key.ts'
import { takeAdmission } from '../../../layers/gateway/store/admission/take-admission.ts'
import { listEvents } from '../../../layers/gateway/store/events/list-events.ts'
import { createKey } from '../../../layers/gateway/store/keys/create-key.ts'
import { keyItem } from '../../../layers/gateway/store/keys/key-item.ts'
import { readKey } from '../../../layers/gateway/store/keys/read-key.ts'
import { actAt } from '../../support/act.ts'
import { demandOf } from '../../support/demand.ts'
import { openTestTables } from '../../support/gateway.ts'
import { openLine as openLineTo } from '../../support/stack.ts'

export const NOW = Date.UTC(2026, 10, 15, 12)
/** The tables of this test file. */
export const tables = await openTestTables()

export const nextSecret = () => issueSecret('svc_live_', randomBytes).stored

type Given = { readonly credits?: bigint; readonly nowMs?: number }

/** A key that is not saved yet. */
export function draft(settings: Partial<KeySettings> = {}, { credits = 1_000_000n, nowMs = NOW }: Given = {}): Key {
  const all = { ...KEY_DEFAULTS, name: 'test', ...settings }
  return newKey({ settings: all, credits, prefix: 'svc_live_', stored: nextSecret() }, nowMs, randomBytes(10))
}

export async function issue(settings?: Partial<KeySettings>, given: Given = {}): Promise<Key> {
  const key = draft(settings, given)
  const created = await createKey(tables)(key, actAt(given.nowMs ?? NOW))
  if (!created.created) throw new Error(`The external id is that of ${created.ownerId}.`)
  return key
}

/** The key as it is stored. */
export const fresh = async ({ id }: Pick<Key, 'id'>): Promise<Key> => (await readKey(tables)(id)) as Key

export const storedItem = async ({ id }: Pick<Key, 'id'>) =>
  (await tables.database.get({ TableName: tables.keys, Key: keyItem(id), ConsistentRead: true })).Item ?? {}

/** As chat does it, which asks for no more of the key than admission changes. */
export const admit = (key: Key, demand: Demand) => takeAdmission(tables, 'UPDATED_NEW')(key, demand)

export const demandAt = (key: Key, nowMs = NOW, given?: Partial<Demand>) => demandOf(key, nowMs, given)

export const ALL_TIME = { fromMs: 0, toMs: NOW + 1_000_000 }

/** Newest first. */
export const eventsOf = (of: string): Promise<ChangeEvent[]> => Array.fromAsync(listEvents(tables)({ ...ALL_TIME, of }))

export const kindsOf = async ({ id }: { readonly id: string }) => (await eventsOf(id)).map(({ what }) => what)

/** This file's tables, over a line that can be made bad. */
export const openLine = () => openLineTo(tables)
