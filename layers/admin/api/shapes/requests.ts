import { z } from 'zod'
import { OPERATOR_FIELDS } from '../../../gateway/domain/rows/usage-row.ts'
import { Hold } from './keys.ts'
import { count, credits, kind, orNull, type Shape, text, texts } from './parts.ts'
import { LINE_FIELDS } from './queries.ts'
import { Attempt, totalTokens, UsageRecord, usageFields } from './usage-record.ts'

const Explained = z.object({
  part: z.enum(['facts', 'charge']).describe('Facts about the request, or its charge.'),
  name: text('The name of these lines.'),
  lines: texts('The lines, as `waybill usage show` prints them.'),
})
export type Explained = Shape<typeof Explained>

const BillLine = z.object({
  what: text('The kind of tokens or pieces.'),
  quantity: count('The number of them.'),
  price: credits('The price, for a million or for one.'),
  per: z.enum(['million', 'one']).describe('The number that the price is for.'),
  amount: credits('The amount of this line.'),
})
export type BillLineShape = Shape<typeof BillLine>

const TriedRoute = Attempt.extend({
  words: text('The result in words.'),
  said: orNull(text('The names that the provider gave to its error, or how it failed; never a text of the caller.')),
})
export type TriedRouteShape = Shape<typeof TriedRoute>

const OF_KEY = {
  key_name: orNull(text('The name of that key; null if the key is gone.')),
  account_id: orNull(text('The account of that key; null if it has none.')),
  account_name: orNull(text('The name of that account.')),
}

export const Request = z.object({
  object: kind('request'),
  request_id: text('The id of the request.'),
  state: z.enum(['settled', 'open']).describe('An open request has no row yet, only a hold.'),
  key_id: text('The key that made it.'),
  ...OF_KEY,
  row: UsageRecord.nullable().describe('The usage row, as GET /v1/usage/{id} tells it; null of an open request.'),
  hold: Hold.nullable().describe('Credits that are still held for it.'),
  ...usageFields(OPERATOR_FIELDS),
  margin: orNull(credits('The charge less the cost to us.')),
  attempts: z.array(TriedRoute).describe('The routes that were asked, in order, in words; none of an open request.'),
  bill: z.array(BillLine).describe('The charge, line by line: quantity, price and amount.'),
  explanation: z.array(Explained).describe('The charge in words.'),
})

type RequestAnswer = Shape<typeof Request>
/** A reader of a row takes what is there. */
export type RequestShape = Omit<RequestAnswer, 'row'> & {
  readonly row: Partial<NonNullable<RequestAnswer['row']>> | null
}

export const RequestLine = z.object({
  object: kind('request.line'),
  ...OF_KEY,
  ...usageFields(LINE_FIELDS),
  total_tokens: totalTokens,
})
export type RequestLine = Shape<typeof RequestLine>
