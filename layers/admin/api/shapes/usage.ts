import { z } from 'zod'
import { SUMMED_FIELDS } from '../../../gateway/domain/rows/usage-row.ts'
import type { TAG, USAGE_GROUPS } from '../../usage/usage-groups.ts'
import { Account } from './accounts.ts'
import { Route } from './catalog.ts'
import { Key } from './keys.ts'
import { count, credits, flag, kind, moment, orNull, Quantiles, type Shape, text, texts } from './parts.ts'
import { sumFields } from './usage-record.ts'

export type UsageGroup = (typeof USAGE_GROUPS)[number] | `${typeof TAG}${string}`

const requests = count('Requests for models.')
const faults = {
  refused: count('Of them, those that were refused because of the caller: its request, its limits, its credits.'),
  failed: count('Of them, those at which providers failed.'),
  broken: count('Of them, those at which this gateway itself failed, or died.'),
}

const UsageNumbers = z.object({
  requests,
  completed: count('Of them, those that were answered.'),
  ...faults,
  calls: count('Calls that ask no model, such as those for the balance, the list of models or a quote.'),
  ...sumFields(SUMMED_FIELDS),
  margin: credits('The charge less the cost to us.'),
  without_cost: count('Answers whose route does not say what it costs, which the margin leaves out.'),
  share: z.int().min(0).max(1000).describe('The share of the largest cost beside it, in thousandths, for a bar.'),
})
export type UsageNumbers = Shape<typeof UsageNumbers>

const group = text(
  'The model, key, provider, day, user or value of the tag; by account, the account, or the key that has none.',
)

const UsageBucket = z.object({
  object: kind('bucket'),
  start_time: moment('The beginning of the bucket.'),
  end_time: moment('Its end, which is not included.'),
  closed: flag('The totals of its day do not change any more.'),
  results: z.array(UsageNumbers.extend({ group })).describe('The numbers by group.'),
})

export const UsagePage = z.object({
  object: kind('page'),
  group_by: text('The grouping.'),
  data: z.array(UsageBucket).describe('A bucket for each UTC day, or for each hour.'),
  total: UsageNumbers.describe('All of the range.'),
  groups: z
    .array(UsageNumbers.extend({ group, label: text('The name of the group: of a key or an account, its name.') }))
    .describe('The groups over the whole range, the dearest first; days in their order.'),
})
export type UsagePage = Shape<typeof UsagePage>

export const FocusLine = z.record(z.string(), orNull(text('The value of a column of FOCUS 1.4.')))

const ErrorCount = z.object({ code: text('The code of the error.'), requests: count('Requests with it.') })

const KeyCounts = z.object({
  active: count('Keys that work.'),
  suspended: count('Keys that are suspended.'),
  expired: count('Keys whose end has come.'),
  revoked: count('Keys that were revoked.'),
})

const AccountCounts = z.object({
  active: count('Accounts that work.'),
  suspended: count('Accounts that are suspended.'),
  closed: count('Accounts that were closed.'),
})

const LastAudit = z.object({
  at: moment('The end of the audit.'),
  keys: count('Keys that were audited.'),
  wrong: count('Of them, and of the accounts, those with something wrong.'),
})

const figures = {
  requests,
  errors: count('Of them, those that were not answered, for any of the three reasons.'),
  ...faults,
  cost: credits('Charged.'),
  upstream_cost: credits('The cost to us, as far as routes state it.'),
  margin: credits('The charge less the cost to us, of answers whose route states it.'),
}

const RangeNumbers = z.object({
  from: moment('The begin of the range.'),
  to: moment('Its end, which is not included.'),
  ...figures,
  first_token_ms: Quantiles,
  duration_ms: Quantiles,
})

const SeriesPoint = z.object({
  start_time: moment('The begin of the hour or UTC day.'),
  ...figures,
  first_token_ms: Quantiles,
})
const TopEntry = z.object({
  id: text('The id of the key, or the name of the model.'),
  name: text('Its name.'),
  ...figures,
})

export const Overview = z.object({
  object: kind('overview'),
  range: RangeNumbers.describe('The range that was asked for; the last 24 hours unless one was.'),
  before: RangeNumbers.describe('The range before it, of the same length.'),
  series: z
    .array(SeriesPoint)
    .describe(
      'The range by the hour, or by the UTC day if it has more than three days. Times without requests are left out.',
    ),
  top_keys: z.array(TopEntry).describe('The keys that were charged the most in the range, at most ten.'),
  top_models: z.array(TopEntry).describe('The models that were charged the most in the range, at most ten.'),
  spent_today: credits('Charged on this UTC day.'),
  spent_7_days: credits('Charged on this day and the six before it.'),
  requests_today: count('Requests for models of this UTC day.'),
  errors: z.array(ErrorCount).describe('Errors of today and yesterday, the most frequent first.'),
  keys: KeyCounts.describe('The number of keys by status.'),
  accounts: AccountCounts.describe('The number of accounts by status.'),
  low: z.array(Key).describe('The keys with a balance of their own that will be the first to run dry.'),
  low_accounts: z.array(Account).describe('The accounts that will be the first to run dry.'),
  dead_requests: texts('Requests that died, and that three sweeps have left unsettled; at most 20.'),
  last_audit: LastAudit.nullable().describe('The last audit of all keys; null if there was none.'),
  routes: z.array(Route).describe('The routes of the active models.'),
})
export type Overview = Shape<typeof Overview>
