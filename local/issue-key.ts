import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ACT_MS, type Act, newAct, timeLeft } from '../layers/gateway/domain/keys/act.ts'
import { issueSecret, KEY_DEFAULTS, newKey } from '../layers/gateway/domain/keys/new-key.ts'
import { hashSecret } from '../layers/gateway/domain/keys/secret.ts'
import { parseCredits } from '../layers/gateway/domain/money/money.ts'
import { BRAND } from '../layers/gateway/names.ts'
import type { Tables } from '../layers/gateway/store/dynamodb/database.ts'
import { createKey } from '../layers/gateway/store/keys/create-key.ts'
import { findKeyId } from '../layers/gateway/store/keys/read-key.ts'

type IssueOptions = Omit<Parameters<typeof newKey>[0], 'stored'> & { readonly by: string }

export function actBy(by: string, nowMs = Date.now()): Act {
  return newAct(by, nowMs, randomBytes(10), timeLeft(ACT_MS, Date.now))
}

export async function issueKey(tables: Tables, { by, ...options }: IssueOptions, nowMs: number) {
  const { secret, stored } = issueSecret(options.prefix, randomBytes)
  const key = newKey({ ...options, stored }, nowMs, randomBytes(10))
  const act = actBy(by, nowMs)
  const result = await createKey(tables)(key, act)
  if (!result.created) throw new Error(`The external id of the new key is that of ${result.ownerId}.`)
  return { key, secret, act }
}

const DEMO = { ...KEY_DEFAULTS, name: 'demo', rpm: 600, dailyLimit: 100_000 }
const DEMO_CREDITS = '100'
export const DEMO_TERMS = `${DEMO_CREDITS} credits, ${DEMO.rpm} requests a minute`

/** A key to begin with. If the data outlives the process, so does the key, in a file beside it. */
export async function demoKey(tables: Tables, dataFolder: string | null): Promise<string> {
  const file = dataFolder && join(dataFolder, 'demo-key')
  const kept = file ? await readFile(file, 'utf8').catch(() => undefined) : undefined
  if (kept && (await findKeyId(tables)(hashSecret(kept)))) return kept
  const credits = parseCredits(DEMO_CREDITS) ?? 0n
  const options = { settings: DEMO, credits, prefix: BRAND.keyPrefix, by: 'waybill start' }
  const { secret } = await issueKey(tables, options, Date.now())
  if (file) await writeFile(file, secret, { mode: 0o600 })
  return secret
}
