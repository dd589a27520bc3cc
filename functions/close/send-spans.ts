import { parseJson } from '../../layers/gateway/domain/basics/json-object.ts'
import { isoTime } from '../../layers/gateway/domain/basics/time.ts'
import { SUMMING_LAG_MS, settledBefore } from '../../layers/gateway/domain/rows/closed-day.ts'
import { spanOf } from '../../layers/gateway/domain/rows/span.ts'
import { listBooks } from '../../layers/gateway/store/keys/read-books.ts'
import { noteClosing, readClosing } from '../../layers/gateway/store/rows/closing.ts'
import { mergeRows } from '../../layers/gateway/store/rows/merge-rows.ts'
import { daysOf, idsOf, queryRowsOfDay } from '../../layers/gateway/store/rows/usage-rows.ts'
import type { Instance } from '../instance.ts'

export type Collector = { readonly url: string; readonly lagMs?: number; readonly timeoutMs?: number }

const MOST_SPANS = 500
const MOST_CHARS = 1_000_000
const TIMEOUT_MS = 10_000

/** Sends settled rows to a collector, oldest first. A run that dies, or a collector that takes nothing, leaves them to the next run. */
export function spanSender({ tables, clock, config: { stage = 'local' } }: Instance, hasTime: () => boolean) {
  const note = noteClosing(tables)
  const rowsOfDay = queryRowsOfDay(tables)

  return async ({ url, lagMs = SUMMING_LAG_MS, timeoutMs = TIMEOUT_MS }: Collector): Promise<void> => {
    const nowMs = clock()
    let toMs = nowMs - lagMs
    for await (const book of listBooks(tables)) toMs = Math.min(toMs, settledBefore(book, nowMs, lagMs))
    const { spannedThrough } = await readClosing(tables)()
    const range = { fromMs: spannedThrough === undefined ? toMs : Date.parse(spannedThrough), toMs }
    let [spans, chars, atMs, rejected] = [[] as string[], 0, 0, 0]
    for (const dayMs of daysOf(range, 'oldest first')) {
      for await (const row of mergeRows(rowsOfDay(dayMs, idsOf(range), 'oldest first'), 'oldest first')) {
        if (row.model === undefined) continue
        const span = JSON.stringify(spanOf(row))
        if (spans.length === MOST_SPANS || (spans.length > 0 && chars + span.length > MOST_CHARS)) {
          rejected += await post(url, spans, timeoutMs)
          ;[spans, chars] = [[], 0]
          // A millisecond may have more spans than fit together.
          if (atMs < row.startedAtMs) await note({ spannedThrough: isoTime(row.startedAtMs) })
          if (!hasTime()) return
        }
        spans.push(span)
        chars += span.length
        atMs = row.startedAtMs
      }
    }
    if (spans.length > 0) rejected += await post(url, spans, timeoutMs)
    await note({ spannedThrough: isoTime(toMs) })
    if (rejected > 0) throw new Error(`The collector rejected ${rejected} spans, which are not sent again.`)
  }

  /** The number of spans that the collector rejected for good. */
  async function post(url: string, spans: readonly string[], timeoutMs: number): Promise<number> {
    const resource = { attributes: [nameAs('service.name', 'waybill'), nameAs('deployment.environment.name', stage)] }
    const scope = `{"scope":{"name":"waybill"},"spans":[${spans.join(',')}]}`
    const reply = await fetch(`${url.replace(/\/$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":[${scope}]}]}`,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer = (await reply.text()).slice(0, MOST_CHARS)
    if (!reply.ok) throw new Error(`The collector answered with status ${reply.status}.`)
    const { partialSuccess } = (parseJson(answer) ?? {}) as { partialSuccess?: { rejectedSpans?: unknown } }
    return Number(partialSuccess?.rejectedSpans) || 0
  }
}

const nameAs = (key: string, stringValue: string) => ({ key, value: { stringValue } })
