import { parseJson } from '../../layers/gateway/domain/basics/json-object.ts'
import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { SUMMING_LAG_MS, settledBefore } from '../../layers/gateway/domain/rows/closed-day.ts'
import { spanOf } from '../../layers/gateway/domain/rows/span.ts'
import { isRequest, type UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { listBooks } from '../../layers/gateway/store/keys/read-key.ts'
import { noteClosing, readClosing } from '../../layers/gateway/store/rows/closing.ts'
import { usageRows } from '../../layers/gateway/store/rows/usage-rows.ts'
import type { Instance } from '../instance.ts'

export type Collector = { readonly url?: string | undefined; readonly lagMs?: number; readonly timeoutMs?: number }

/** A row has bounded texts: so many spans are less than a megabyte. */
const MOST_SPANS = 150

/** Sends settled rows, oldest first. A run that dies, or a collector that takes nothing, leaves them to the next run. */
export async function sendSpans(instance: Instance, hasTime: () => boolean, collector: Collector = {}): Promise<void> {
  const { tables, clock, config } = instance
  const { url, lagMs = SUMMING_LAG_MS, timeoutMs = 10_000 } = collector
  if (url === undefined) return
  const note = noteClosing(tables)
  const nowMs = clock()
  let toMs = nowMs - lagMs
  for await (const book of listBooks(tables)) toMs = Math.min(toMs, settledBefore(book, nowMs, lagMs))
  const { spannedThrough = isoTime(toMs) } = await readClosing(tables)()
  let [rows, rejected]: [UsageRow[], number] = [[], 0]
  for await (const row of usageRows(tables, undefined, { fromMs: Date.parse(spannedThrough), toMs })) {
    if (row.model === undefined || !isRequest(row)) continue
    if (rows.length === MOST_SPANS) {
      rejected += await post(rows)
      // A millisecond may have more spans than fit together.
      if (rows.at(-1)?.startedAtMs !== row.startedAtMs) await note({ spannedThrough: isoTime(row.startedAtMs) })
      if (!hasTime()) return
      rows = []
    }
    rows.push(row)
  }
  if (rows.length > 0) rejected += await post(rows)
  await note({ spannedThrough: isoTime(toMs) })
  if (rejected > 0) throw new Error(`The collector rejected ${rejected} spans, which are not sent again.`)

  /** The number of spans that the collector rejected for good. */
  async function post(rows: readonly UsageRow[]): Promise<number> {
    const service = { key: 'service.name', value: { stringValue: `waybill-${config.stage ?? 'local'}` } }
    const scopeSpans = [{ scope: { name: 'waybill' }, spans: rows.map(spanOf) }]
    const reply = await fetch(`${url?.replace(/\/$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ resource: { attributes: [service] }, scopeSpans }] }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer = parseJson(await reply.text()) as { partialSuccess?: { rejectedSpans?: unknown } } | undefined
    if (!reply.ok) throw new Error(`The collector answered with status ${reply.status}.`)
    return Number(answer?.partialSuccess?.rejectedSpans) || 0
  }
}
