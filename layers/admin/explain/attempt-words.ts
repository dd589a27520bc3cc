import type { FailureReason } from '../../gateway/domain/routing/upstream-failure.ts'
import type { Attempt } from '../../gateway/domain/rows/usage-row.ts'

/** By the first word of an attempt's result. */
const RESULTS: Readonly<Record<FailureReason | 'ok' | 'beyond_cap' | 'open', string>> = {
  ok: 'answered',
  beyond_cap: 'answered beyond its output cap, and was cut there',
  open: 'not ended',
  connect: 'could not be reached',
  timeout: 'did not answer in time',
  deadline: 'was stopped at the time limit of the request',
  reset: 'broke the connection',
  status: 'answered with an error',
  rate_limit: 'is rate limiting us',
  credential: 'refused our credential',
  forbidden: 'refused the content or our account',
  model_not_found: 'does not know the model',
  too_large: 'found the request too large',
  rejected: 'refused the request as invalid',
  unsupported: 'was not asked: it does not support this request',
  protocol: 'answered in a form that is not its own',
  error_event: 'sent an error in its stream',
  empty: 'answered nothing',
  runaway: 'did not stop',
}

export function attemptWords({ result }: Pick<Attempt, 'result'>): string {
  const [reason = ''] = result.split(' ')
  return Object.hasOwn(RESULTS, reason) ? RESULTS[reason as keyof typeof RESULTS] : result
}
