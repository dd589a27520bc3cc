import { noCounts } from '../admission/counters.ts'
import { ulid } from '../basics/time.ts'
import type { Nano } from '../money/money.ts'
import { type Account, joining } from './account.ts'
import type { Key, Secret } from './key.ts'
import { isOptional, KEY_SETTINGS, type KeySettings, SETTINGS } from './key-settings.ts'
import { hashSecret } from './secret.ts'
import { makeSecret } from './secret-text.ts'

export const KEY_DEFAULTS = Object.fromEntries<unknown>(
  SETTINGS.filter((name) => name !== 'name' && !isOptional(name)).map((name) => [name, KEY_SETTINGS[name].default]),
) as Omit<KeySettings, 'name'>

/** The secret in clear exists only in the answer to the person who made the key. */
export function issueSecret(prefix: string, random: (bytes: number) => Uint8Array) {
  const secret = makeSecret(prefix, random(32))
  return { secret, stored: { hash: hashSecret(secret), lastFour: secret.slice(-4) } }
}

type NewKey = {
  readonly settings: KeySettings
  readonly credits: Nano
  readonly prefix: string
  readonly stored: Secret
  /** The account whose balance it uses, in place of credits of its own. */
  readonly account?: Account | undefined
}

export function newKey({ settings, credits, prefix, stored, account }: NewKey, nowMs: number, random: Uint8Array): Key {
  const id = `key_${ulid(nowMs, random)}`
  return {
    ...settings,
    id,
    address: id,
    status: 'active',
    prefix,
    current: stored,
    createdAtMs: nowMs,
    version: 1,
    bucketFullAtUs: 0,
    counts: noCounts(),
    granted: credits,
    available: credits,
    spent: 0n,
    holds: {},
    ...(account && joining(account)),
  }
}
