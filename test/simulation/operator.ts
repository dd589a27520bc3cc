import { COUNTER_NAMES, COUNTERS } from '../../layers/gateway/domain/admission/counters.ts'
import type { Act } from '../../layers/gateway/domain/keys/act.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import { isOptional } from '../../layers/gateway/domain/keys/key-settings.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { endGrace, revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { resumeKey, suspendKey } from '../../layers/gateway/store/keys/suspend-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import type { Account, Issued } from './admin-caller.ts'
import { PLAN } from './catalogs.ts'
import { COUNTER_LIMITS, MODELS, type Operation, type Step } from './history.ts'
import { PART_LIMITS } from './lane-history.ts'

const LIMITS: Readonly<Record<string, readonly (string | number | bigint | null | readonly string[])[]>> = {
  rpm: [1, 5, 600],
  maxConcurrent: [1, 3],
  models: MODELS,
  plan: [PLAN.name, null],
  ...Object.fromEntries(
    COUNTER_NAMES.map((name) => [
      name,
      [...COUNTER_LIMITS[COUNTERS[name].counts], ...(isOptional(name) ? [null] : [])],
    ]),
  ),
}
const ENDS_MS = [0, 0, 1, 1_000, 20_000, 61_000, 3_600_000, 86_400_000]
/** Two keys of a history may want the same. */
const EXTERNAL_IDS = ['one', 'two', null]
const CHANGES = Object.entries(LIMITS).flatMap(([name, values]) => values.map((value) => ({ [name]: value })))

export const MOST_LANES = 8
const PART_CHANGES = Object.entries(PART_LIMITS).flatMap(([name, values]) => values.map((value) => ({ [name]: value })))

export async function operate(
  tables: Tables,
  catalogOf: (value: number) => CatalogData,
  account: Account,
  { operation, value }: Extract<Step, { do: 'operate' }>,
  act: Act,
  /** Hears that the key has this version, with everything that belongs to it. */
  told: (version: number) => void,
): Promise<void> {
  const { keyId, secrets } = account
  const before = [...secrets]
  const update = (changes: Parameters<ReturnType<typeof updateKey>>[1]) => updateKey(tables)(keyId, changes, act)
  const acts: Readonly<Record<Operation, () => Promise<unknown>>> = {
    lanes: () => update({ lanes: 1 + (value % MOST_LANES) }),
    parts: () => update(PART_CHANGES[value % PART_CHANGES.length] ?? {}),
    limits: () => update(CHANGES[value % CHANGES.length] ?? {}),
    expiry: () => update({ expiresAtMs: endAfter(value, act.atMs) }),
    'external id': () => update({ externalId: EXTERNAL_IDS[value % EXTERNAL_IDS.length] ?? null }),
    push: () => writeCatalog(tables)(catalogOf(value), act),
    'end grace': () => endGrace(tables)(keyId, act),
    suspend: () => suspendKey(tables)(keyId, act),
    resume: () => resumeKey(tables)(keyId, act),
    revoke: () => revokeKey(tables)(keyId, act),
  }
  const done = () => perhapsTwice(value, acts[operation]) as Promise<Result>
  const wanted = STATUSES[operation]
  const result = await (wanted ? hearStatus(account, wanted, done) : done())
  if (operation === 'end grace' || operation === 'revoke') endAllBut(before, result)
  if (operation !== 'push' && result.changed) told(result.key.version)
}

const STATUSES: Readonly<Partial<Record<Operation, Key['status']>>> = {
  suspend: 'suspended',
  resume: 'active',
  revoke: 'revoked',
}

/** Ends from a moment that may be now to one that no history reaches, or none. */
function endAfter(value: number, nowMs: number): number | null {
  const ms = ENDS_MS[value % ENDS_MS.length] as number
  return ms === 0 ? null : nowMs + ms
}

/** An act that failed, and now and then one that did not, is sent again, as by somebody who lost the answer. */
export async function perhapsTwice<T>(value: number, act: () => Promise<T>): Promise<T> {
  const first = await act().catch(() => undefined)
  return first === undefined || value % 3 === 0 ? act() : first
}

/**
 * The operator does not know which of several acts at the same time was the last. A key that is suspended with its account
 * is not resumed by itself.
 */
async function hearStatus({ status }: Account, wanted: Key['status'], act: () => Promise<Result>): Promise<Result> {
  const isAlone = status.running === 0
  status.begun += 1
  status.running += 1
  status.told = undefined
  const { begun } = status
  try {
    const result = await act()
    if (result.changed && isAlone && status.begun === begun && result.key.status === wanted) status.told = wanted
    return result
  } finally {
    status.running -= 1
  }
}

type Result = Awaited<ReturnType<ReturnType<typeof revokeKey>>>

/** Secrets issued before a change have ended if the key, as the change left it, does not know them any more. */
function endAllBut(secrets: Issued[], result: Result): void {
  if (!result.changed) return
  const { status, current, previous } = result.key
  const known = status === 'revoked' ? [] : [current.hash, previous?.hash]
  for (const secret of secrets) if (!known.includes(secret.hash)) secret.ended = true
}
