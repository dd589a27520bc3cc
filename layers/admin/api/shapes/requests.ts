import { z } from 'zod'
import { OPERATOR_FIELDS } from '../../../gateway/domain/rows/usage-row.ts'
import { Hold, type HoldShape } from './keys.ts'
import { count, credits, kind, orNull, type Told, text, texts } from './parts.ts'
import { LINE_FIELDS } from './queries.ts'
import { Attempt, totalTokens, UsageRecord, usageFields } from './usage-record.ts'

const Explained = z.object({
  part: z.enum(['facts', 'charge']).describe('Facts about the request, or its charge.'),
  name: text('The name of these lines.'),
  lines: texts('The lines, as `waybill usage show` prints them.'),
})
export type Explained = Told<typeof Explained>

const BillLine = z.object({
  what: text('The kind of tokens or pieces.'),
  quantity: count('The number of them.'),
  price: credits('The price, for a million or for one.'),
  per: z.enum(['million', 'one']).describe('The number that the price is for.'),
  amount: credits('The amount of this line.'),
})
export type BillLineShape = Told<typeof BillLine>

const TriedRoute = Attempt.extend({
  words: text('The result in words.'),
  said: orNull(text('The names that the provider gave to its error, or how it failed; never a text of the caller.')),
})
export type TriedRouteShape = Told<typeof TriedRoute>

export const Request = z.object({
  object: kind('request'),
  request_id: text('The id of the request.'),
  state: z.enum(['settled', 'open']).describe('An open request has no row yet, only a hold.'),
  key_id: text('The key that made it.'),
  key_name: orNull(text('The name of that key; null if the key is gone.')),
  row: UsageRecord.nullable().describe('The usage row, as GET /v1/usage/{id} tells it; null of an open request.'),
  hold: Hold.nullable().describe('Credits that are still held for it.'),
  ...usageFields(OPERATOR_FIELDS),
  margin: orNull(credits('The charge less the cost to us.')),
  attempts: z.array(TriedRoute).describe('The routes that were asked, in order, in words; none of an open request.'),
  bill: z.array(BillLine).describe('The charge, line by line: quantity, price and amount.'),
  explanation: z.array(Explained).describe('The charge in words.'),
})

export type RequestShape = {
  readonly object: 'request'
  readonly request_id: string
  readonly state: 'settled' | 'open'
  readonly key_id: string
  readonly key_name: string | null
  readonly row: (Readonly<Record<string, unknown>> & RowParts) | null
  readonly hold: HoldShape | null
  readonly upstream_cost: string | null
  readonly upstream_cost_source: 'provider' | 'catalog' | null
  readonly service_tier: string | null
  readonly margin: string | null
  readonly attempts: readonly TriedRouteShape[]
  readonly bill: readonly BillLineShape[]
  readonly explanation: readonly Explained[]
}

type RowParts = {
  readonly pricing?: { readonly above?: number } | null
}

export const RequestLine = z.object({
  object: kind('request.line'),
  key_name: orNull(text('The name of that key; null if the key is gone.')),
  ...usageFields(LINE_FIELDS),
  total_tokens: totalTokens,
})

export type RequestLine = {
  readonly object: 'request.line'
  readonly request_id: string
  readonly key_id: string
  readonly key_name: string | null
  readonly started_at: string
  readonly endpoint: string
  readonly model: string | null
  readonly provider: string | null
  readonly stream: boolean
  readonly http_status: number
  readonly outcome: string
  readonly error_code: string | null
  readonly replay_of: string | null
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly ttft_ms: number | null
  readonly total_tokens: number
  readonly cost: string
  readonly duration_ms: number
}
