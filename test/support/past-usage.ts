import { type CloseOptions, createClose } from '../../functions/close/create.ts'
import { type Instance, openInstance } from '../../functions/instance.ts'
import { DAY_MS, makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import { KEY_DEFAULTS } from '../../layers/gateway/domain/keys/new-key.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { putUsageRow } from '../../layers/gateway/store/rows/usage-rows.ts'
import { issueKey } from '../../local/issue-key.ts'
import type { Random } from '../simulation/random.ts'
import { completedRow } from './completed-row.ts'

const CREDITS = 10n ** 15n

/** A key that was made at a moment, with the rows that it is given: settled, so that its books balance. */
export async function usedKey(
  tables: Tables,
  madeAtMs: number,
  rows: (keyId: string) => UsageRow[],
  keepDays?: number,
) {
  const options = { settings: { ...KEY_DEFAULTS, name: 'past' }, credits: CREDITS, prefix: BRAND.keyPrefix, by: 'test' }
  const { key, secret } = await issueKey(tables, options, madeAtMs)
  const made = rows(key.id)
  await Promise.all(made.map(putUsageRow(tables, keepDays)))
  await spend(tables, key.id, made)
  return { key, secret, rows: made }
}

async function spend({ database, keys }: Tables, keyId: string, rows: readonly UsageRow[]): Promise<void> {
  await database.update({
    TableName: keys,
    Key: keyItem(keyId),
    UpdateExpression: 'SET spent = spent + :cost, available = available - :cost',
    ExpressionAttributeValues: { ':cost': rows.reduce((sum, { cost }) => sum + cost, 0n) },
  })
}

/** Rows of every kind on the days that begin with this moment. */
export function randomRows(random: Random, keyId: string, fromMs: number, days: number, count: number): UsageRow[] {
  return Array.from({ length: count }, () => randomRow(random, keyId, fromMs + random.below(days * DAY_MS)))
}

export function randomRow(random: Random, keyId: string, startedAtMs: number): UsageRow {
  const requestId = makeRequestId(startedAtMs, random.bytes(10))
  const cost = BigInt(random.below(10 ** 9))
  const row = completedRow({ requestId, keyId, startedAtMs, cost, hold: cost + 5n })
  const route = { model: random.pick(['small', 'large']), provider: random.pick(['one', 'two', 'three']) }
  if (random.chance(0.2)) {
    const errorCode = random.pick(['rate_limit_exceeded', 'insufficient_scope', `made_up_${random.below(1000)}`])
    return { ...row, outcome: 'refused', httpStatus: 429, errorCode, cost: 0n, hold: 0n, usageSource: 'none' }
  }
  if (random.chance(0.1)) {
    const failed = { outcome: 'upstream_error', httpStatus: 502, errorCode: 'upstream_error' } as const
    return { ...row, ...route, ...failed, cost: 0n, usageSource: 'none' }
  }
  return {
    ...row,
    ...route,
    promptTokens: 100 + random.below(1000),
    completionTokens: 50 + random.below(100),
    cachedTokens: random.below(100),
    ...(random.chance(0.3) && { cacheWriteTokens: 1, reasoningTokens: random.below(50) }),
    ...(random.chance(0.6) && { upstreamCost: BigInt(random.below(10 ** 9)) }),
    attempts: [{ provider: route.provider, model: 'm', result: 'ok', ms: 5 }],
  }
}

export type Closer = {
  readonly instance: Instance
  readonly logLines: string[]
  run(context?: { getRemainingTimeInMillis(): number }): Promise<{ closed: number; exported: number; behind: number }>
}

/** The function that closes days, at a moment, without its pause. */
export function closerAt(tables: Tables, nowMs: () => number, options: CloseOptions = {}): Closer {
  const logLines: string[] = []
  const config = { keysTable: tables.keys, usageTable: tables.usage, answersTable: tables.answers, ...BRAND }
  const log = jsonLog((line) => logLines.push(line))
  const instance = openInstance({ config, tables, log, clock: nowMs })
  const close = createClose(instance, { pause: async () => {}, ...options })
  return { instance, logLines, run: (context) => close({}, context) }
}
