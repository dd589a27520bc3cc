import type { UsageRow } from './usage-row.ts'

/** As Athena names them. */
type ColumnType = 'string' | 'bigint' | 'boolean'
type Column = { readonly type: ColumnType; readonly of: (row: UsageRow) => unknown }

const text = (of: Column['of']): Column => ({ type: 'string', of })
const whole = (of: Column['of']): Column => ({ type: 'bigint', of })
const flag = (of: Column['of']): Column => ({ type: 'boolean', of })

/**
 * All that a row has, in an order that does not change: new columns go to the end. Money is in nanocredits, which are whole
 * numbers, so that no reader rounds them. A price and the attempts are texts of JSON.
 */
const COLUMNS: Readonly<Record<string, Column>> = {
  request_id: text((row) => row.requestId),
  key_id: text((row) => row.keyId),
  started_at: text((row) => new Date(row.startedAtMs).toISOString()),
  endpoint: text((row) => row.endpoint),
  outcome: text((row) => row.outcome),
  http_status: whole((row) => row.httpStatus),
  error_code: text((row) => row.errorCode),
  model: text((row) => row.model),
  provider: text((row) => row.provider),
  upstream_model: text((row) => row.upstreamModel),
  fallback_model: text((row) => row.fallbackModel),
  replay_of: text((row) => row.replayOf),
  stream: flag((row) => row.stream),
  prompt_tokens: whole((row) => row.promptTokens),
  completion_tokens: whole((row) => row.completionTokens),
  cached_tokens: whole((row) => row.cachedTokens),
  cache_write_tokens: whole((row) => row.cacheWriteTokens),
  reasoning_tokens: whole((row) => row.reasoningTokens),
  images: whole((row) => row.images),
  usage_source: text((row) => row.usageSource),
  estimated_by: text((row) => row.estimatedBy),
  usage_rejected: flag((row) => row.usageRejected),
  usage_capped: flag((row) => row.usageCapped),
  cost_nano: whole((row) => row.cost),
  hold_nano: whole((row) => row.hold),
  upstream_cost_nano: whole((row) => row.upstreamCost),
  price_version: whole((row) => row.priceVersion),
  price: text((row) => row.price && inOrder(row.price)),
  attempts: text((row) => `[${row.attempts.map(inOrder).join(',')}]`),
  ttft_ms: whole((row) => row.ttftMs),
  duration_ms: whole((row) => row.durationMs),
  cache_write_1h_tokens: whole((row) => row.cacheWrite1hTokens),
  upstream_cost_source: text((row) => row.upstreamCostSource),
}

/** DynamoDB gives the fields of a map in any order. */
function inOrder(fields: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** The table that Athena reads. Its days are folders, which are no columns of the lines. */
export const EXPORT_COLUMNS = Object.entries(COLUMNS).map(([name, { type }]) => ({ name, type }))

/** One row as a line of JSON. What it has none of is left out, and null to its reader. */
export function exportLine(row: UsageRow): string {
  let line = ''
  for (const name in COLUMNS) {
    const value = COLUMNS[name]?.of(row)
    if (value === undefined) continue
    line += `${line && ','}"${name}":${typeof value === 'bigint' ? value : JSON.stringify(value)}`
  }
  return `{${line}}\n`
}

/** Where the lines of a day are, in numbered parts. */
export const EXPORT_FOLDER = 'usage'
export function exportPath(day: string, part: number): string {
  return `${EXPORT_FOLDER}/dt=${day}/${String(part).padStart(5, '0')}.json.gz`
}

/** Rows that began in the same millisecond come in any order; their lines always come in one. */
export async function* inOneOrder(rows: AsyncIterable<UsageRow>): AsyncGenerator<UsageRow, void, undefined> {
  let together: UsageRow[] = []
  const sorted = () => together.sort((a, b) => (a.requestId < b.requestId ? -1 : 1))
  for await (const row of rows) {
    if (together[0] && together[0].startedAtMs !== row.startedAtMs) {
      yield* sorted()
      together = []
    }
    together.push(row)
  }
  yield* sorted()
}
