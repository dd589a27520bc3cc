import type { UsageRow } from '../../../layers/gateway/domain/rows/usage-row.ts'
import { queryUsageRows } from '../../../layers/gateway/store/rows/usage-rows.ts'
import type { TestGateway } from '../../support/gateway.ts'

/** The rows of a key around this moment. */
export function rowsOf({ tables }: TestGateway, keyId: string, nowMs = Date.now()): Promise<UsageRow[]> {
  const range = { fromMs: nowMs - 600_000, toMs: nowMs + 600_000 }
  return Array.fromAsync(queryUsageRows(tables)(keyId, range))
}
