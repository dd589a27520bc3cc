import { z } from 'zod'
import { Route } from './catalog.ts'
import { Key } from './keys.ts'
import { USAGE_GROUPS } from './names.ts'
import { count, credits, flag, kind, moment, type Told, text } from './parts.ts'
import { sumFields } from './usage-record.ts'

export type UsageGroup = (typeof USAGE_GROUPS)[number]

const UsageNumbers = z.object({
  requests: count('Requests.'),
  completed: count('Of them, those that were answered.'),
  refused: count('Of them, those that the gateway refused.'),
  failed: count('Of them, those that no provider answered, or that died.'),
  ...sumFields(),
  margin: credits('The charge less the cost to us.'),
  without_cost: count('Answers whose route does not say what it costs, which the margin leaves out.'),
  share: z.int().min(0).max(1000).describe('The share of the largest cost beside it, in thousandths, for a bar.'),
})

export type UsageNumbers = {
  readonly requests: number
  readonly completed: number
  readonly refused: number
  readonly failed: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cached_tokens: number
  readonly cost: string
  readonly upstream_cost: string
  readonly margin: string
  readonly without_cost: number
  readonly share: number
}

const group = text('The model, key, provider or day.')

const UsageBucket = z.object({
  object: kind('bucket'),
  start_time: moment('The beginning of the bucket.'),
  end_time: moment('Its end, which is not included.'),
  closed: flag('The totals of the day do not change any more.'),
  results: z.array(UsageNumbers.extend({ group })).describe('The numbers by group.'),
})
export type UsageBucket = Omit<Told<typeof UsageBucket>, 'results'> & {
  readonly results: readonly (UsageNumbers & { readonly group: string })[]
}

export const UsagePage = z.object({
  object: kind('page'),
  group_by: z.enum(USAGE_GROUPS).describe('The grouping.'),
  data: z.array(UsageBucket).describe('A bucket for each UTC day.'),
  total: UsageNumbers.describe('All of the range.'),
  groups: z
    .array(UsageNumbers.extend({ group, label: text('The name of the group: of a key, its name.') }))
    .describe('The groups over the whole range, the dearest first; days in their order.'),
})
export type UsagePage = {
  readonly object: 'page'
  readonly group_by: UsageGroup
  readonly data: readonly UsageBucket[]
  readonly total: UsageNumbers
  readonly groups: readonly (UsageNumbers & { readonly group: string; readonly label: string })[]
}

const ErrorCount = z.object({ code: text('The code of the error.'), requests: count('Requests with it.') })

const KeyCounts = z.object({
  active: count('Keys that work.'),
  suspended: count('Keys that are suspended.'),
  expired: count('Keys whose end has come.'),
  revoked: count('Keys that were revoked.'),
})

const LastAudit = z.object({
  at: moment('The end of the audit.'),
  keys: count('Keys that were audited.'),
  wrong: count('Of them, those with something wrong.'),
})

export const Overview = z.object({
  object: kind('overview'),
  spent_today: credits('Charged on this UTC day.'),
  spent_7_days: credits('Charged on this day and the six before it.'),
  requests_today: count('Requests of this UTC day.'),
  errors: z.array(ErrorCount).describe('Errors of today and yesterday, the most frequent first.'),
  keys: KeyCounts.describe('The number of keys by status.'),
  low: z.array(Key).describe('The keys that will be the first to run dry.'),
  last_audit: LastAudit.nullable().describe('The last audit of all keys; null if there was none.'),
  routes: z.array(Route).describe('The routes of the active models.'),
})
export type Overview = Told<typeof Overview>
