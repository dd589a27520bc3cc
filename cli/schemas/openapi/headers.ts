import { BRAND } from '../../../layers/gateway/names.ts'
import { ownNames } from '../../../layers/gateway/wire/requests/headers.ts'
import type { Json } from './json-schema.ts'

const own = ownNames(BRAND.headerPrefix)
const NUMBER = { type: 'string', pattern: '^\\d+$' }
const TEXT = { type: 'string' }
const REQUEST_ID = { type: 'string', pattern: '^req_[0-9A-HJKMNP-TV-Z]{26}$' }

/** Every header of an answer. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request; GET /v1/usage/{id} finds its row.',
    required: true,
    schema: REQUEST_ID,
  },
  'Request-Id': {
    description: 'The same id, under the name that Anthropic’s clients know; on answers of Messages.',
    schema: REQUEST_ID,
  },
  [own.cost]: {
    description: 'The charge, in credits. A stream tells it in a comment at its end.',
    schema: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  },
  'RateLimit-Limit': {
    description: 'The limit of the window that is closest to its end. With a valid key.',
    schema: NUMBER,
  },
  'RateLimit-Remaining': { description: 'Requests left in that window.', schema: NUMBER },
  'RateLimit-Reset': { description: 'Seconds until that window is whole again.', schema: NUMBER },
  'x-ratelimit-limit-requests': { description: 'RateLimit-Limit under OpenAI’s name.', schema: NUMBER },
  'x-ratelimit-remaining-requests': { description: 'RateLimit-Remaining under OpenAI’s name.', schema: NUMBER },
  'x-ratelimit-reset-requests': {
    description: 'RateLimit-Reset as OpenAI writes it: `6s`, `1m0s`, `12h28m54s`.',
    schema: { type: 'string', pattern: '^(\\d+h)?(\\d+m)?\\d+s$' },
  },
  [own.provider]: { description: 'The upstream that answered.', schema: TEXT },
  [own.attempts]: {
    description: 'Every upstream that was tried, with its result: `openai=status 500, azure=ok`.',
    schema: TEXT,
  },
  [own.dropped]: { description: 'Request fields that were left out, if some were.', schema: TEXT },
  [own.lowered]: {
    description: 'The model’s maximum, which took the place of a larger max_tokens, if it did.',
    schema: NUMBER,
  },
  [own.replayed]: {
    description: 'Present if this answer was given before, for the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: NUMBER },
  'x-should-retry': {
    description: 'Tells SDKs that a retry cannot succeed.',
    schema: { type: 'string', const: 'false' },
  },
  Allow: { description: 'The methods of this path.', schema: TEXT },
} satisfies Record<string, Json>

const RATE_LIMITS = Object.keys(HEADERS).filter((name) => /^(x-)?ratelimit-/i.test(name))
export const ALWAYS = ['X-Request-Id', own.cost, ...RATE_LIMITS]
/** On answers for which a model was asked. */
export const OF_MODELS = [own.provider, own.attempts, own.dropped]
export const { lowered: LOWERED, replayed: REPLAYED } = own

export function headersOf(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

export const ROUTE_PARAMETER: Json = {
  name: `${BRAND.headerPrefix}Route`,
  in: 'header',
  description: 'The only providers to try, in this order: `azure,openai`.',
  schema: TEXT,
}

/** Headers of a request to a model. */
export const PARAMETERS: readonly Json[] = [
  {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a retry safe: within 24 hours the same key and body get the first answer again, at no cost.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
  ROUTE_PARAMETER,
]
