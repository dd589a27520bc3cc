import { z } from 'zod'
import { listOf } from '../../layers/admin/api/shapes/answers.ts'
import { Statement as BooksStatement } from '../../layers/admin/api/shapes/books.ts'
import { Key } from '../../layers/admin/api/shapes/keys.ts'
import { kind, moment, orNull, text, texts } from '../../layers/admin/api/shapes/parts.ts'
import * as row from '../../layers/admin/api/shapes/usage-record.ts'
import { COUNTERS } from '../../layers/gateway/domain/admission/counters.ts'
import { CONTRACTS, SCOPES } from '../../layers/gateway/endpoints.ts'
import { OUTPUT_LIMITS } from '../../layers/gateway/wire/keys/introspection.ts'
import { QUOTED_PATHS } from '../../layers/gateway/wire/requests/read-quote.ts'
import { USAGE_GROUPS } from '../../layers/gateway/wire/rows/usage-query.ts'
import { CALLER_SUMS } from '../../layers/gateway/wire/rows/usage-sums.ts'
import { EXAMPLES } from './client-guide.ts'
import { CONTRACTS as API_CONTRACTS } from './contracts.ts'

// The requests and answers that are ours alone.

const { amount, totalTokens, Attempt, Pricing } = row

export { Attempt, Pricing }

const size = (words: string) => z.int().min(0).describe(words)

function shape<Fields extends z.ZodRawShape>(description: string, fields: Fields, example?: object) {
  return z.object(fields).meta({ description, ...(example && { examples: [example] }) })
}

const window = (things: string, amountOf: (words: string) => z.ZodType) =>
  shape(`A limit on ${things}.`, {
    limit: amountOf(`The most ${things} in the window.`),
    remaining: amountOf(`The ${things} that are left in it.`),
    reset: size('Seconds until the window is whole again.'),
  })
export const Window = window('requests', size)

function perLimit(schemaOf: (counts: string) => z.ZodType, words: string): Record<string, z.ZodType> {
  const fields = OUTPUT_LIMITS.map((name) => {
    const { api, counts, within } = COUNTERS[name]
    const said = `${words} ${counts} of this UTC ${within}; null if they are unlimited.`
    return [api, schemaOf(counts).nullable().describe(said)]
  })
  return Object.fromEntries(fields)
}

const { id, prefix, last_four, held, spent } = Key.shape

export const ApiKey = shape(
  'The calling key.',
  {
    object: kind('api_key'),
    id,
    name: text('The name that the operator gave it.'),
    status: z.enum(['active']).describe('A key that is suspended, expired or revoked is refused by this call, too.'),
    scopes: z.array(z.enum(SCOPES)).describe('The endpoints that the key may call.'),
    balance: orNull(
      amount('Credits that new requests can hold: those of the account, if the key has one; null if they are hidden.'),
    ),
    held,
    spent,
    account: orNull(
      shape('The customer whose balance the key uses; null for a key with its own. Hidden amounts are null.', {
        id: text('The id of the account.'),
        name: text('The name that the operator gave it.'),
        balance: orNull(amount('Credits that new requests of its keys can hold.')),
        held: orNull(amount('Credits on hold for running requests of its keys.')),
        spent: orNull(amount('Credits charged to its keys so far.')),
        shows_statements: z.boolean().describe('Its keys may read its statements.'),
      }),
    ),
    top_up_url: orNull(text('The address at which credits are sold, if the operator has named one.')),
    key: shape('The secret that asks.', {
      prefix,
      last_four,
      state: z.enum(['current', 'grace']).describe('`grace` for the old secret of a rotated key.'),
      expires_at: orNull(z.int().describe('Unix seconds at which it ends: with its grace period or with the key.')),
    }),
    limits: shape('The limits of the key, and how much of them is left.', {
      rpm: Window.describe('Requests per minute.'),
      daily: Window.describe('Requests of this UTC day.'),
      concurrent: shape('Requests at once.', {
        limit: size('The most requests at once.'),
        in_use: size('Other requests that are under way.'),
      }),
      ...perLimit((counts) => window(counts, counts === 'credits' ? amount : size), 'The'),
    }),
    plan: orNull(text('The plan whose prices the key has: its own or that of its account.')),
    models: texts('Ids and patterns of the models that the key may use; empty means every model.'),
    allowlist: texts('CIDR ranges from which the key works; empty means every address.'),
    created_at: size('The Unix time at which the key was made, in seconds.'),
  },
  EXAMPLES.api_key,
)

export const Model = shape('A model of the catalog.', {
  id: text('The id by which the model is asked.'),
  object: kind('model'),
  created: size('The Unix time of the model, in seconds.'),
  owned_by: text('The maker of the model.'),
  name: text('The name of the model, for people.'),
  kind: z.enum(['chat', 'embedding']).describe('Chat answers in words, embedding in vectors.'),
  contracts: z.array(z.enum(CONTRACTS)).describe('The contracts in which it can be asked.'),
  context_length: size('The most tokens of prompt and answer together.'),
  max_output_tokens: size('The most tokens of an answer; 0 for an embedding model.'),
  dimensions: z.int().min(1).describe('Numbers in a vector; of an embedding model only.').optional(),
  pricing: Pricing.describe('Its price, in credits.'),
})

const models = { object: kind('list'), data: z.array(Model).describe('The active models.') }
export const ModelList = shape('All models that can be asked.', models, EXAMPLES.list)

const endpoint = (words: string) => z.enum(QUOTED_PATHS as [string, ...string[]]).describe(words)

const QUOTED = { endpoint: '/v1/chat/completions', body: API_CONTRACTS['/v1/chat/completions']?.example }
export const QuoteRequest = z
  .strictObject({
    endpoint: endpoint('The endpoint at which the request would be sent.'),
    body: z.looseObject({}).describe('The request, as it would be sent there.'),
  })
  .meta({ description: 'A request to be quoted.', examples: [QUOTED] })

export const Quote = shape(
  'What a request would hold and cost now.',
  {
    object: kind('quote'),
    endpoint: endpoint('The endpoint that was named.'),
    model: text('The model that would be asked.'),
    catalog_version: size('The version of the catalog whose prices these are, as a row has it in `price_version`.'),
    prompt_tokens: shape('The tokens of the prompt.', {
      estimated: size('By our own tokenizer, which counts other models roughly.'),
      most: size('The most that any tokenizer can make of it, for which credits are held.'),
    }),
    output_tokens: shape('The output tokens of each choice.', {
      most: size('The output cap: as asked for, as the model has it, or lowered to what is covered.'),
      choices: size('The number of answers.'),
      covered: shape(
        'The most that credits, and the limit on tokens, cover beside the prompt, up to the cap of the model.',
        {
          balance: orNull(size('Covered by the balance; null if the account hides it.')),
          ...perLimit(() => z.int().min(0), 'Covered by the'),
        },
      ),
    }),
    hold: orNull(amount('The credits that would be held; null if the request would be refused.')),
    cost: shape('The cost for the estimated prompt, without discounts for a cache.', {
      without_output: amount('With no output token.'),
      with_most_output: amount('With all output tokens of all choices.'),
    }),
    refusal: orNull(
      shape('Why credits do not cover the request; null if they do.', {
        status: size('The status of the refusal.'),
        code: text('Its code.'),
        message: text('Its message.'),
      }),
    ),
  },
  EXAMPLES.quote,
)

export const UsageRecord = row.UsageRecord.meta({ examples: [EXAMPLES.usage] })
export const UsageList = listOf(UsageRecord).describe(
  'Requests of the calling key, the newest first. A page may have fewer rows than asked for, or none, although there are more.',
)

const figures = {
  requests: size('Requests.'),
  completed: size('Of them, those that were answered.'),
  ...row.sumFields(CALLER_SUMS),
  total_tokens: totalTokens,
}
const group = z.object({
  day: text('The UTC day; with `group=day`.').optional(),
  model: orNull(text('The model that was asked for; null for calls that asked none. With `group=model`.')).optional(),
  ...figures,
})
const range = { from: moment('Its beginning.'), to: moment('Its end, which is not included.') }
const leftOut = z.array(z.object(range))

export const UsageSums = shape(
  'The requests of a range, added up.',
  {
    object: kind('usage.sums'),
    group: z.enum(USAGE_GROUPS).describe('The grouping.'),
    ...range,
    data: z.array(group).describe('Of groups that have requests: days in their order, the dearest model first.'),
    total: shape('All groups together.', figures),
    left_out: leftOut.describe('Ranges of time that are not in the sums; empty if the sums have every request.'),
  },
  EXAMPLES['usage.sums'],
)

const totals = shape('The credits of the calling key, or of its account.', {
  total_credits: z.number().min(0).describe('Credits granted so far.'),
  total_usage: z.number().min(0).describe('Credits charged so far.'),
})
export const Credits = shape('The credits of the key, in OpenRouter’s shape.', { data: totals }, EXAMPLES.credits)

export const Statement = BooksStatement.meta({ examples: [EXAMPLES.statement] })

export const UsageAnswer = z.union([UsageList, UsageSums]).describe('A page of requests, or with `group` their sums.')
