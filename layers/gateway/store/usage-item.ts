import type { UsageRow } from '../domain/usage-row.ts'
import { keyDay } from '../domain/usage-row.ts'
import { type Item, toNano } from './key-item.ts'

export function toUsageItem(row: UsageRow): Item {
  const { startedAtMs, ...rest } = row
  return {
    ...rest,
    startedAt: new Date(startedAtMs).toISOString(),
    keyDay: keyDay(row.keyId, startedAtMs),
    totalTokens: row.promptTokens + row.completionTokens,
  }
}

export function toUsageRow(item: Item): UsageRow {
  const { startedAt, keyDay: _, totalTokens: __, cost, hold, ...rest } = item
  return {
    ...(rest as Omit<UsageRow, 'startedAtMs' | 'cost' | 'hold'>),
    startedAtMs: Date.parse(startedAt as string),
    cost: toNano(cost),
    hold: toNano(hold),
  }
}
