import type { GatewayError } from '../../domain/basics/gateway-error.ts'
import type { ChoicePart } from '../../domain/chat/chat.ts'
import type { Bill } from '../../domain/money/bill.ts'
import { moneyLiteral } from '../../wire/money/money-literal.ts'
import { writeCalls } from '../../wire/money/usage-counts.ts'
import type { AnswerHead } from '../contract.ts'

/** A message before its first block. Its id is the request's, so that either finds the row. */
export function emptyMessage({ requestId, model }: AnswerHead) {
  return {
    id: requestId.replace('req_', 'msg_'),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    container: null,
    diagnostics: null,
    ...endingOf(undefined, false),
  }
}

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
])

export type Finish = Pick<ChoicePart, 'finishReason' | 'ending'>

export function endingOf(finish: Finish | undefined, hasCalls: boolean) {
  const ending = finish?.ending
  return {
    stop_reason: ending?.reason ?? (finish ? stopReason(finish.finishReason ?? 'stop', hasCalls) : null),
    stop_sequence: ending?.sequence ?? null,
    stop_details: ending?.reason === 'refusal' ? (ending.details ?? null) : null,
    ...(ending?.contextManagement !== undefined && { context_management: ending.contextManagement }),
  }
}

/** Some upstreams call tools and report that they have stopped. */
function stopReason(finishReason: string, hasCalls: boolean): string {
  const reason = STOP_REASONS.get(finishReason) ?? 'end_turn'
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason
}

type Usage = Record<string, unknown>

/** The billed counts in Anthropic's format: tokens that went through a cache are counted beside the input, not in it. */
export function messageUsage(bill: Bill): Usage {
  return { ...countsOf(bill), cost: moneyLiteral(bill.cost) }
}

export function countsOf({ quantities, reasoning }: Bill): Usage {
  const { prompt, cached, cacheWrite, completion } = quantities
  return {
    input_tokens: prompt - cached - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use: null,
    ...writeCalls({ quantities }),
  }
}

export function usageDetailsOf({ quantities: { cacheWrite, cacheWrite1h }, serviceTier }: Bill): Usage {
  return {
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h, ephemeral_1h_input_tokens: cacheWrite1h },
    inference_geo: null,
    service_tier: serviceTier === 'priority' ? serviceTier : 'standard',
    speed: serviceTier === 'fast' ? serviceTier : null,
  }
}

const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
])

export function messageError({ status, message }: GatewayError, requestId: string): object {
  const type = TYPES.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message }, request_id: requestId }
}
