import { randomBytes } from 'node:crypto'
import { ACT_MS, type Act, newAct, timeLeft } from '../layers/gateway/domain/keys/act.ts'
import type { Key } from '../layers/gateway/domain/keys/key.ts'
import type { KeySettings } from '../layers/gateway/domain/keys/key-settings.ts'
import { issueSecret, newKey } from '../layers/gateway/domain/keys/new-key.ts'
import type { Nano } from '../layers/gateway/domain/money/money.ts'
import { createKey } from '../layers/gateway/store/keys/create-key.ts'
import type { OperatorTables } from '../layers/gateway/store/sdk/operator-tables.ts'

type IssueOptions = {
  readonly settings: KeySettings
  readonly credits: Nano
  readonly prefix: string
  readonly by: string
}

type IssuedKey = { readonly key: Key; readonly secret: string; readonly act: Act }

/** A change that begins now. */
export function actBy(by: string, nowMs = Date.now()): Act {
  return newAct(by, nowMs, randomBytes(10), timeLeft(ACT_MS, Date.now))
}

/** A key that is not saved yet, and its secret. */
function draftKey({ settings, credits, prefix, by }: IssueOptions, nowMs: number): IssuedKey {
  const { secret, stored } = issueSecret(prefix, randomBytes)
  const key = newKey({ settings, credits, prefix, stored }, nowMs, randomBytes(10))
  return { key, secret, act: actBy(by, nowMs) }
}

export async function issueKey(tables: OperatorTables, options: IssueOptions, nowMs: number): Promise<IssuedKey> {
  const issued = draftKey(options, nowMs)
  const result = await createKey(tables)(issued.key, issued.act)
  if (!result.created) throw new Error(`The external id of the new key is that of ${result.ownerId}.`)
  return issued
}
