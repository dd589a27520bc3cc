import { z } from 'zod'
import { flag, kind, moment, orNull, text } from '../../../../layers/admin/api/shapes/parts.ts'
import { sumFields, totalTokens, UsageRecord } from '../../../../layers/admin/api/shapes/usage-record.ts'
import {
  MOST_DAYS,
  MOST_LISTED,
  USAGE_GROUPS,
  USUALLY_LISTED,
  type UsageParameter,
} from '../../../../layers/gateway/wire/rows/usage-query.ts'
import { CALLER_SUMS } from '../../../../layers/gateway/wire/rows/usage-sums.ts'
import { list, size } from '../contracts/parts.ts'

export const UsageList = z
  .object({
    object: kind('list'),
    data: list(UsageRecord, 'Requests of the calling key, the newest first.'),
    has_more: flag('There may be more, also if this page has fewer rows than asked for, or none.'),
    last_id: orNull(text('The id from which the next page goes on, as `after`; null without rows.')),
  })
  .describe('A page of requests.')

const figures = {
  requests: size('Requests.'),
  completed: size('Of them, those that were answered.'),
  ...sumFields(CALLER_SUMS),
  total_tokens: totalTokens,
}
const UsageTotal = z.object(figures)
const UsageSum = z.object({
  day: text('The UTC day; with `group=day`.').optional(),
  model: orNull(text('The model that was asked for; null for calls that asked none. With `group=model`.')).optional(),
  ...figures,
})
const LeftOut = z.object({ from: moment('Its beginning.'), to: moment('Its end, which is not included.') })

export const UsageSums = z
  .object({
    object: kind('usage.sums'),
    group: z.enum(USAGE_GROUPS).describe('The grouping.'),
    from: moment('The beginning of the range.'),
    to: moment('Its end, which is not included.'),
    data: list(UsageSum, 'The sums of the groups that have requests: days in their order, the dearest model first.'),
    total: UsageTotal.describe('All groups together.'),
    left_out: list(LeftOut, 'Ranges of time that are not in the sums; empty if the sums have every request.'),
  })
  .describe('The requests of a range, added up.')

export const Credits = z
  .object({
    data: z
      .object({
        total_credits: z.number().min(0).describe('Credits granted so far.'),
        total_usage: z.number().min(0).describe('Credits charged so far.'),
      })
      .describe('The credits of the calling key.'),
  })
  .describe('The credits of the calling key, in OpenRouter’s shape.')

type Parameter = { readonly schema: z.ZodType; readonly words: string }

/** The parameters of the query, for the document. */
export const USAGE_QUERY: Readonly<Record<UsageParameter, Parameter>> = {
  from: {
    schema: z.string(),
    words: `From this UTC day or moment on. Unless given, ${MOST_DAYS.listed} days before \`to\`. A list may have ${MOST_DAYS.listed} days, sums ${MOST_DAYS.summed}.`,
  },
  to: { schema: z.string(), words: 'To this UTC day or moment, which is not included; now unless given.' },
  model: { schema: z.string().min(1).max(200), words: 'Only requests for this model.' },
  limit: {
    schema: z.int().min(1).max(MOST_LISTED),
    words: `The most rows of a page; ${USUALLY_LISTED} unless given. Not with \`group\`.`,
  },
  after: { schema: z.string(), words: 'The last_id of the page before. Not with `group`.' },
  group: { schema: z.enum(USAGE_GROUPS), words: 'Sums by UTC day or by model in place of the list.' },
}
