import { DAY_MS } from '../../gateway/domain/basics/time.ts'
import { type CatalogData, kindOf } from '../../gateway/domain/routing/catalog.ts'
import { latestRowMs } from '../../gateway/domain/rows/closed-day.ts'
import { isRequest, type UsageRow } from '../../gateway/domain/rows/usage-row.ts'
import { newestRequests } from '../../gateway/store/rows/newest-requests.ts'
import type { Call } from '../api/call.ts'

const MOST_ROWS = 1_000

/** Every model of a catalog for which an upstream has recently counted a longer prompt than the holds cover. */
export async function contextWarnings({ tables, nowMs }: Call, { models }: CatalogData): Promise<string[]> {
  const range = { fromMs: nowMs - 7 * DAY_MS, toMs: latestRowMs(nowMs) }
  const { rows } = await newestRequests(tables, { keyIds: undefined, range, limit: MOST_ROWS, matches: isRequest })
  const longest = new Map<string, UsageRow>()
  for (const row of rows) {
    const id = row.fallbackModel ?? row.model ?? ''
    if (row.usageSource === 'upstream' && row.promptTokens > (longest.get(id)?.promptTokens ?? 0)) longest.set(id, row)
  }
  return models.flatMap((model) => {
    const { id, contextLength } = model
    const row = longest.get(id)
    // Each text of a batch has its own context, and the number of texts is no longer known.
    if (!row || kindOf(model) !== 'chat' || row.promptTokens <= contextLength) return []
    const counted = `${row.promptTokens} prompt tokens that ${row.provider}/${row.upstreamModel} counted for ${row.requestId}`
    return [`model '${id}': contextLength ${contextLength} is below the ${counted}`]
  })
}
