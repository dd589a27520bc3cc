import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'

/** The row of a completion, as it was settled or should have been. */
export function completedRow(row: Pick<UsageRow, 'requestId' | 'keyId' | 'startedAtMs' | 'cost' | 'hold'>): UsageRow {
  return {
    ...row,
    endpoint: 'chat.completions',
    outcome: 'completed',
    httpStatus: 200,
    stream: false,
    promptTokens: 1,
    completionTokens: 1,
    cachedTokens: 0,
    usageSource: 'upstream',
    usageRejected: false,
    attempts: [],
    durationMs: 1,
  }
}
