import { COUNTER_NAMES, COUNTERS } from '../../../layers/gateway/domain/admission/counters.ts'
import type { CounterRefusal, ErrorKind, RequestCode } from '../../../layers/gateway/domain/basics/gateway-error.ts'

/** The reason for each code of an error, for the document. The functions do without these words. */
export const ERROR_WORDS: Readonly<Record<ErrorKind | RequestCode, string>> = {
  invalid_json: 'The body is no JSON; the message has the line and the column.',
  invalid_body: 'The body is no object, too deep or too wide.',
  missing_required_parameter: 'The field in `param` is missing.',
  invalid_value: 'The field in `param` has another value than it may have.',
  unknown_parameter: 'The field in `param` does not exist.',
  unsupported_parameter: 'This gateway or this model does not take the field, value, item or tool.',
  context_length_exceeded: 'A text is longer than the model takes.',
  invalid_route: 'X-Svc-Route is malformed, or names a provider that cannot be pinned.',
  invalid_idempotency_key: 'Idempotency-Key is malformed.',
  invalid_request: 'The request is wrong in another way.',
  upstream_rejected: 'The upstream refused the request as malformed, and gave no code of its own.',
  invalid_api_key: 'There is no key, or it is unknown, expired or revoked.',
  key_suspended: 'The operator has suspended the key. It works again when it is resumed.',
  credit_balance_exhausted: 'The balance does not cover the worst case; the message says how much it covers.',
  direct_access_denied: 'The request went around the public address of the gateway.',
  insufficient_scope: 'The key may not call this endpoint. It spends no quota.',
  ip_not_allowed: 'The key may not be used from this address. It spends no quota.',
  model_not_allowed: 'The key may not use this model. Nothing is held or charged.',
  model_not_found: 'There is no such model.',
  not_found: 'There is no such path or request.',
  method_not_allowed: 'The path has another method; Allow names it.',
  idempotency_key_in_use: 'The first request with this Idempotency-Key is still being answered.',
  idempotent_answer_not_kept: 'The first request was answered and charged, but its answer cannot be given again.',
  request_too_large: 'The body has more than 4 MiB, or is too large for the upstream.',
  unsupported_media_type: 'The body is not JSON, or is compressed.',
  idempotency_key_reused: 'The first request with this Idempotency-Key had another body.',
  rate_limit_exceeded: 'The limit of requests per minute is reached.',
  ...counterWords(),
  concurrency_limit_exceeded: 'The limit of requests at once is reached.',
  internal_error: 'The gateway failed. Nothing is charged.',
  key_busy: 'Too many requests of one key met at one moment. No model was asked, and nothing is charged.',
  service_unavailable: 'The database is away. No model was asked, and nothing is charged.',
  upstream_rate_limited: 'Every upstream of the model is at its rate limit.',
  upstream_error: 'The model could not be reached, or failed.',
  upstream_timeout: 'The model took too long.',
}

function counterWords(): Record<CounterRefusal, string> {
  const words = COUNTER_NAMES.map((name) => {
    const { refusal, counts, within } = COUNTERS[name]
    return [refusal, `The limit of ${counts} per UTC ${within} is reached.`]
  })
  return Object.fromEntries(words)
}
