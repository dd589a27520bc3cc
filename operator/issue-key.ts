import { randomBytes } from 'node:crypto'
import type { Key, KeySettings } from '../layers/gateway/domain/key.ts'
import type { Nano } from '../layers/gateway/domain/money.ts'
import { issueSecret, newKey } from '../layers/gateway/domain/new-key.ts'
import { ulid } from '../layers/gateway/domain/ulid.ts'
import { createKey } from '../layers/gateway/store/create-key.ts'
import type { Tables } from '../layers/gateway/store/tables.ts'

export type IssueOptions = {
  readonly settings: KeySettings
  readonly credits: Nano
  readonly prefix: string
  readonly by: string
}

export async function issueKey(
  tables: Tables,
  { settings, credits, prefix, by }: IssueOptions,
  nowMs: number,
): Promise<{ key: Key; secret: string }> {
  const { secret, stored } = issueSecret(prefix, randomBytes)
  const key = newKey({ settings, credits, prefix, stored }, nowMs, randomBytes(10))
  await createKey(tables)(key, { id: ulid(nowMs, randomBytes(10)), by })
  return { key, secret }
}
