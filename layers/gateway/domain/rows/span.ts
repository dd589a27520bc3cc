import { hash } from 'node:crypto'
import { formatCredits } from '../money/money.ts'
import { CALLS } from '../money/price-kinds.ts'
import type { UsageRow } from './usage-row.ts'

type Value = string | number | readonly string[] | undefined

/** OpenTelemetry's names for endpoints that are not for chats. */
const OPERATIONS: Readonly<Record<string, string>> = { completions: 'text_completion', embeddings: 'embeddings' }
const SPAN = { client: 3, ok: 1, error: 2 }

/** A row as a span of OTLP in JSON, always with the same ids. It has no text of a prompt or an answer, as the row has none. */
export function spanOf(row: UsageRow): object {
  const ids = hash('sha256', row.requestId)
  const operation = OPERATIONS[row.endpoint] ?? 'chat'
  const isCompleted = row.outcome === 'completed'
  const attributes: Record<string, Value> = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': row.provider,
    'gen_ai.request.model': row.model,
    'gen_ai.response.model': row.upstreamModel,
    'gen_ai.response.finish_reasons': row.finishReason === undefined ? undefined : [row.finishReason],
    'gen_ai.usage.input_tokens': row.promptTokens,
    'gen_ai.usage.output_tokens': row.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': row.cachedTokens,
    'gen_ai.usage.cache_creation.input_tokens': row.cacheWriteTokens,
    'error.type': isCompleted ? undefined : (row.errorCode ?? row.outcome),
    'http.response.status_code': row.httpStatus,
    'user.id': row.user,
    'waybill.request.id': row.requestId,
    'waybill.key.id': row.keyId,
    'waybill.account.id': row.accountId,
    'waybill.outcome': row.outcome,
    'waybill.cost': formatCredits(row.cost),
    'waybill.time_to_first_token_ms': row.ttftMs,
  }
  const calls = CALLS.map(({ quantity, calls }) => [`waybill.usage.${calls}`, row[quantity]])
  const tags = Object.entries(row.tags ?? {}).map(([name, value]) => [`waybill.tag.${name}`, value])
  return {
    traceId: ids.slice(0, 32),
    spanId: ids.slice(32, 48),
    name: `${operation} ${row.model}`,
    kind: SPAN.client,
    startTimeUnixNano: `${row.startedAtMs}000000`,
    endTimeUnixNano: `${row.startedAtMs + row.durationMs}000000`,
    attributes: attributesOf({ ...attributes, ...Object.fromEntries([...calls, ...tags]) }),
    status: { code: isCompleted ? SPAN.ok : SPAN.error },
  }
}

function attributesOf(values: Readonly<Record<string, Value>>): object[] {
  return Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : { key, value: inJson(value) }))
}

/** An integer is a text, because it may have 64 bits. */
function inJson(value: NonNullable<Value>): object {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'number' ? { intValue: String(value) } : { arrayValue: { values: value.map(inJson) } }
}
