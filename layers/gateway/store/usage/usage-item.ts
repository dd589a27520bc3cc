import { isoTime } from '../../domain/limits.ts'
import type { Nano } from '../../domain/money.ts'
import { keyDay, type UsageRow } from '../../domain/usage-row.ts'
import type { Item } from '../database.ts'
import { toNano } from '../keys/key-item.ts'

/** The attributes in the order in which a person wants to read them. */
export function toUsageItem(row: UsageRow): Item {
  return {
    requestId: row.requestId,
    keyId: row.keyId,
    startedAt: isoTime(row.startedAtMs),
    endpoint: row.endpoint,
    contract: row.contract,
    outcome: row.outcome,
    httpStatus: row.httpStatus,
    errorCode: row.errorCode,
    model: row.model,
    provider: row.provider,
    upstreamModel: row.upstreamModel,
    fallbackModel: row.fallbackModel,
    replayOf: row.replayOf,
    stream: row.stream,
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    cachedTokens: row.cachedTokens,
    cacheWriteTokens: row.cacheWriteTokens,
    cacheWrite1hTokens: row.cacheWrite1hTokens,
    reasoningTokens: row.reasoningTokens,
    images: row.images,
    totalTokens: row.promptTokens + row.completionTokens,
    askedMaxTokens: row.askedMaxTokens,
    loweredMaxTokens: row.loweredMaxTokens,
    usageSource: row.usageSource,
    estimatedBy: row.estimatedBy,
    usageRejected: row.usageRejected,
    usageCapped: row.usageCapped,
    cost: row.cost,
    hold: row.hold,
    upstreamCost: row.upstreamCost,
    upstreamCostSource: row.upstreamCostSource,
    priceVersion: row.priceVersion,
    price: row.price,
    attempts: row.attempts,
    ttftMs: row.ttftMs,
    durationMs: row.durationMs,
    keyDay: keyDay(row.keyId, row.startedAtMs),
    // DynamoDB counts in seconds.
    expiresAt: row.keptUntilMs === undefined ? undefined : Math.ceil(row.keptUntilMs / 1000),
  }
}

export function toUsageRow(item: Item): UsageRow {
  const { startedAt, keyDay: _, totalTokens: __, expiresAt, ...rest } = item
  return {
    ...(rest as Omit<UsageRow, 'startedAtMs' | 'cost' | 'hold' | 'upstreamCost'>),
    startedAtMs: Date.parse(startedAt as string),
    cost: amountOf(item, 'cost'),
    hold: amountOf(item, 'hold'),
    ...(item.upstreamCost !== undefined && { upstreamCost: amountOf(item, 'upstreamCost') }),
    ...(expiresAt !== undefined && { keptUntilMs: (expiresAt as number) * 1000 }),
  }
}

/** An error names its row, because many are read at once. */
function amountOf(item: Item, name: 'cost' | 'hold' | 'upstreamCost'): Nano {
  try {
    return toNano(item[name])
  } catch (cause) {
    throw new Error(`The usage row ${item.requestId} is damaged: its ${name} is ${item[name]}.`, { cause })
  }
}
