import type { AdmissionRefusal } from '../basics/gateway-error.ts'

export type Remedy =
  | 'draw from the account'
  | 'try another lane'
  | 'lower the cap for credits'
  | 'lower the cap for tokens'
  | 'finish dead holds'

const NOT_COVERED = ['try another lane', 'lower the cap for credits', 'finish dead holds'] as const

/** Tried before admission refuses, in this order. */
const REMEDIES: Readonly<Record<AdmissionRefusal, readonly Remedy[]>> = {
  key_suspended: [],
  invalid_api_key: [],
  rate_limit_exceeded: ['try another lane'],
  daily_limit_exceeded: ['try another lane'],
  daily_credits_exceeded: NOT_COVERED,
  monthly_credits_exceeded: NOT_COVERED,
  daily_loss_exceeded: [],
  token_rate_limit_exceeded: ['try another lane', 'lower the cap for tokens'],
  concurrency_limit_exceeded: ['try another lane', 'finish dead holds'],
  credit_balance_exhausted: ['draw from the account', 'lower the cap for credits', 'finish dead holds'],
}

export function isRemedy(remedy: Remedy, why: AdmissionRefusal): boolean {
  return REMEDIES[why].includes(remedy)
}
