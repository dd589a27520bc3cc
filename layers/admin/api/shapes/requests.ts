import { z } from 'zod'
import { Hold } from './keys.ts'
import { OUTCOMES } from './names.ts'
import { count, credits, flag, kind, moment, orNull, type Told, text, texts } from './parts.ts'

const Explained = z.object({
  part: z.enum(['facts', 'charge']).describe('Facts about the request, or its charge.'),
  name: text('The name of these lines.'),
  lines: texts('The lines, as `waybill usage show` prints them.'),
})
export type Explained = Told<typeof Explained>

const Attempt = z.object({
  provider: text('The provider that was asked.'),
  model: text('The model that it was asked for.'),
  result: text('The outcome: ok, or the reason of the failure.'),
  ms: count('Milliseconds that it took.'),
})
export type AttemptShape = Told<typeof Attempt>

const BillLine = z.object({
  what: text('The kind of tokens or pieces.'),
  quantity: count('The number of them.'),
  price: credits('The price, for a million or for one.'),
  per: z.enum(['million', 'one']).describe('The number that the price is for.'),
  amount: credits('The amount of this line.'),
})
export type BillLineShape = Told<typeof BillLine>

const Row = z.looseObject({
  attempts: z.array(Attempt).describe('The attempts at providers, in their order.'),
  pricing: z
    .looseObject({ above: count('The tier is for prompts of more tokens than this.').optional() })
    .nullable()
    .optional()
    .describe('The prices of the charge.'),
})

export const Request = z.object({
  object: kind('request'),
  request_id: text('The id of the request.'),
  state: z.enum(['settled', 'open']).describe('An open request has no row yet, only a hold.'),
  key_id: text('The key that made it.'),
  key_name: orNull(text('The name of that key; null if the key is gone.')),
  row: Row.nullable().describe('The usage row, as GET /v1/usage/{id} tells it; null of an open request.'),
  hold: Hold.nullable().describe('Credits that are still held for it.'),
  upstream_cost: orNull(credits('The bill of the provider.')),
  upstream_cost_source: z
    .enum(['provider', 'catalog'])
    .nullable()
    .describe('The provider stated the cost with its answer, or it follows from the cost of the route.'),
  margin: orNull(credits('The charge without the bill of the provider.')),
  bill: z.array(BillLine).describe('The charge, line by line: quantity, price and amount.'),
  explanation: z.array(Explained).describe('The charge in words.'),
})
export type RequestShape = Told<typeof Request>

export const RequestLine = z.object({
  object: kind('request.line'),
  request_id: text('The id of the request.'),
  key_id: text('The key that made it.'),
  key_name: orNull(text('The name of that key; null if the key is gone.')),
  started_at: moment('The moment of its arrival.'),
  endpoint: text('The endpoint that was asked.'),
  model: orNull(text('The model that was asked for.')),
  provider: orNull(text('The provider that answered.')),
  stream: flag('The answer was streamed.'),
  http_status: count('The status of the answer.'),
  outcome: z.enum(OUTCOMES).describe('The outcome of the request.'),
  error_code: orNull(text('The code of the refusal or failure.')),
  replay_of: orNull(text('The request whose answer this is once more.')),
  total_tokens: count('Tokens of prompt and answer.'),
  cost: credits('The charge.'),
  duration_ms: count('Milliseconds from arrival to the end of the answer.'),
})
export type RequestLine = Told<typeof RequestLine>
