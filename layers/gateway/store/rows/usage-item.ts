import { isoTime } from '../../domain/basics/time.ts'
import type { Nano } from '../../domain/money/money.ts'
import { CREDIT_FIELDS, keyDay, USAGE_FIELDS, type UsageFieldName, type UsageRow } from '../../domain/rows/usage-row.ts'
import type { Item } from '../dynamodb/database.ts'
import { toNano } from '../keys/key-item.ts'
import { rowKey } from './row-key.ts'

/** The row as it is, except its times: the index sorts by texts, and DynamoDB counts in seconds. */
export function toUsageItem(row: UsageRow): Item {
  return {
    ...row,
    ...rowKey(row.requestId),
    startedAtMs: undefined,
    startedAt: isoTime(row.startedAtMs),
    keyDay: keyDay(row.keyId, row.startedAtMs),
    keptUntilMs: undefined,
    expiresAt: row.keptUntilMs === undefined ? undefined : Math.ceil(row.keptUntilMs / 1000),
  }
}

const STORED_OTHERWISE: ReadonlySet<string> = new Set(['part', 'startedAt', 'keyDay', 'expiresAt'])

export function toUsageRow(item: Item): UsageRow {
  const { startedAt, expiresAt } = item
  const row: Item = {}
  // In place of a rest pattern, which takes several times as long: a closing reads millions of rows.
  for (const name in item) if (!STORED_OTHERWISE.has(name)) row[name] = item[name]
  row.startedAtMs = Date.parse(startedAt as string)
  if (expiresAt !== undefined) row.keptUntilMs = (expiresAt as number) * 1000
  for (const name of CREDIT_FIELDS) {
    if (row[name] !== undefined || !USAGE_FIELDS[name].optional) row[name] = amountOf(item, name)
  }
  return row as UsageRow
}

/** An error names its row, because many are read at once. */
function amountOf(item: Item, name: UsageFieldName): Nano {
  try {
    return toNano(item[name])
  } catch (cause) {
    throw new Error(`The usage row ${item.requestId} is damaged: its ${name} is ${item[name]}.`, { cause })
  }
}
