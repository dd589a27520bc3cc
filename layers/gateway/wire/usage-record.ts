import { formatCredits } from '../domain/money.ts'
import { parsePrice } from '../domain/price.ts'
import type { UsageRow } from '../domain/usage-row.ts'
import { pricing } from './models.ts'

export function usageRecord(row: UsageRow) {
  return {
    object: 'usage',
    request_id: row.requestId,
    key_id: row.keyId,
    endpoint: row.endpoint,
    contract: row.contract ?? null,
    model: row.model ?? null,
    provider: row.provider ?? null,
    upstream_model: row.upstreamModel ?? null,
    fallback_model: row.fallbackModel ?? null,
    replay_of: row.replayOf ?? null,
    stream: row.stream,
    http_status: row.httpStatus,
    outcome: row.outcome,
    error_code: row.errorCode ?? null,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens ?? 0,
    cache_write_1h_tokens: row.cacheWrite1hTokens ?? 0,
    reasoning_tokens: row.reasoningTokens ?? 0,
    images: row.images ?? 0,
    total_tokens: row.promptTokens + row.completionTokens,
    asked_max_tokens: row.askedMaxTokens ?? null,
    lowered_max_tokens: row.loweredMaxTokens ?? null,
    usage_source: row.usageSource,
    estimated_by: row.usageSource === 'estimate' ? (row.estimatedBy ?? 'tokenizer') : null,
    usage_rejected: row.usageRejected,
    usage_capped: row.usageCapped ?? false,
    cost: formatCredits(row.cost),
    hold: formatCredits(row.hold),
    price_version: row.priceVersion ?? null,
    pricing: row.price ? pricing(parsePrice(row.price)) : null,
    attempts: row.attempts,
    ttft_ms: row.ttftMs ?? null,
    duration_ms: row.durationMs,
    started_at: new Date(row.startedAtMs).toISOString(),
  }
}
