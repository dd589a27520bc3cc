import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KEY_DEFAULTS } from '../layers/gateway/domain/keys/new-key.ts'
import { hashSecret } from '../layers/gateway/domain/keys/secret.ts'
import { parseCredits } from '../layers/gateway/domain/money/money.ts'
import { BRAND } from '../layers/gateway/names.ts'
import { findKeyId } from '../layers/gateway/store/keys/read-key.ts'
import type { OperatorTables } from '../layers/gateway/store/sdk/operator-tables.ts'
import { issueKey } from './issue-key.ts'

const SETTINGS = { ...KEY_DEFAULTS, name: 'demo', rpm: 600, dailyLimit: 100_000 }
const CREDITS = '100'
export const DEMO_TERMS = `${CREDITS} credits, ${SETTINGS.rpm} requests a minute`

/** A key to begin with. If the data outlives the process, so does the key, in a file beside it. */
export async function demoKey(tables: OperatorTables, dataFolder: string | null): Promise<string> {
  const file = dataFolder && join(dataFolder, 'demo-key')
  const kept = file ? await readFile(file, 'utf8').catch(() => undefined) : undefined
  if (kept && (await findKeyId(tables)(hashSecret(kept)))) return kept
  const credits = parseCredits(CREDITS) ?? 0n
  const { secret } = await issueKey(
    tables,
    { settings: SETTINGS, credits, prefix: BRAND.keyPrefix, by: 'waybill start' },
    Date.now(),
  )
  if (file) await writeFile(file, secret, { mode: 0o600 })
  return secret
}
