import { randomBytes } from 'node:crypto'
import type { Key, KeySettings } from '../layers/gateway/domain/key.ts'
import type { Nano } from '../layers/gateway/domain/money.ts'
import { issueSecret, newKey } from '../layers/gateway/domain/new-key.ts'
import { ulid } from '../layers/gateway/domain/ulid.ts'
import { createKey } from '../layers/gateway/store/keys/create-key.ts'
import type { Grant } from '../layers/gateway/store/keys/grant-credits.ts'
import type { OperatorTables } from '../layers/gateway/store/operator-tables.ts'

type IssueOptions = {
  readonly settings: KeySettings
  readonly credits: Nano
  readonly prefix: string
  readonly by: string
}

type IssuedKey = { readonly key: Key; readonly secret: string; readonly grant: Grant }

/** A key that is not saved yet, and its secret. */
export function draftKey({ settings, credits, prefix, by }: IssueOptions, nowMs: number): IssuedKey {
  const { secret, stored } = issueSecret(prefix, randomBytes)
  const key = newKey({ settings, credits, prefix, stored }, nowMs, randomBytes(10))
  return { key, secret, grant: { id: ulid(nowMs, randomBytes(10)), by } }
}

export async function issueKey(tables: OperatorTables, options: IssueOptions, nowMs: number): Promise<IssuedKey> {
  const issued = draftKey(options, nowMs)
  await createKey(tables)(issued.key, issued.grant)
  return issued
}
