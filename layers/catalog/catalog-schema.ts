import { z } from 'zod'
import { isPlainLine } from '../gateway/domain/basics/plain-text.ts'
import { REGION, THIS_MACHINE } from '../gateway/domain/routing/bedrock-address.ts'
import {
  FIRST_BYTE_TIMEOUT_MS,
  isOwnVariable,
  MEDIA_KINDS,
  type ProviderEntry,
} from '../gateway/domain/routing/catalog.ts'
import { count, embeddingPrices, isStorable, maybe, prices, tierName, UNSTORABLE } from './price-schema.ts'

// Descriptions and patterns are for catalog.schema.json: a JSON Schema has no other word for a check of our own.

const name = z
  .string()
  .min(1)
  .max(200)
  .refine(isPlainLine, 'must be on one line, without control characters, marks of direction and invisible ones')
const modelId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/, 'must be letters, digits and . _ : / @ - (at most 128)')
const PRICE = 'What callers pay.'
const COST = 'What the provider bills the operator, in the shape of price.'
const timeoutMs = z.int().min(100).max(840_000)
const IDLE_TIMEOUT_MS = 60_000
const fieldName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'must be the name of a field of the request')
const allowFields = maybe(
  z.array(fieldName).max(100),
  'Request fields that callers may send although they may cost extra.',
)

const baseUrl = z
  .string()
  .refine(isSafeBaseUrl, 'must be an https address, or http on this machine (127.0.0.1, [::1], localhost)')
  .meta({ pattern: '^(https://.+|http://(127(\\.\\d+){3}|\\[::1\\]|localhost)([:/].*)?|local:echo)$' })
const apiKey = z
  .string()
  .regex(/^(env|secret):[A-Za-z0-9_./-]+$/, 'must be "env:NAME" or "secret:NAME", never the key itself')
  .refine(
    (reference) => !reference.startsWith('env:') || !isOwnVariable(reference.slice('env:'.length)),
    'must not name a variable of AWS or of this gateway (AWS_…, WAYBILL_…)',
  )
  .optional()
  .describe(
    'Where the provider’s key is kept, never the key itself: env:NAME is a variable of a gateway on one machine, secret:NAME is in the secret waybill/STAGE/NAME in Secrets Manager, {"key": "sk-…", "hosts": ["api.openai.com"]}.',
  )

/** Headers that authenticate or frame a request are sent by the gateway, and a key has a field of its own. */
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be a header name')
  .refine(
    (name) => !/^(authorization|api-key|x-api-key|content-.*|x-amz-.*|host|connection|transfer-encoding)$/i.test(name),
    'must not be a header that we send ourselves; a key belongs into apiKey',
  )
  .refine(isStorable, UNSTORABLE)

const serviceTier = maybe(
  tierName,
  'The service_tier of every request. Default: the one at the list price at OpenAI and Anthropic themselves, none elsewhere.',
)

const region = z.string().regex(REGION, 'must be an AWS region such as us-east-1')
const signing = {
  auth: maybe(
    z.literal('sigv4'),
    '"sigv4" for Bedrock’s own endpoints in this format: each request is signed as the function’s role, and there is no apiKey.',
  ),
  region: maybe(region, 'The AWS region whose Bedrock is called, with "auth": "sigv4".'),
}

const common = {
  unknownFields: maybe(
    z.enum(['refuse', 'drop']),
    'Whether a field that is unknown, or may cost extra, is refused with a 400 or left out and named in a header. Default: refuse.',
  ),
  upstreamStream: maybe(
    z.boolean(),
    'true for an upstream that is asked to stream even where the caller gets one JSON answer, because it gives up on long silence. Default: false.',
  ),
}

const PROVIDERS = {
  openai: z.strictObject({
    type: z.literal('openai').describe('An upstream that speaks OpenAI’s chat completions or Responses.'),
    baseUrl: baseUrl.describe(
      'https, or http on this machine, or local:echo, the upstream that a gateway on one machine brings along.',
    ),
    contract: maybe(
      z.enum(['chat', 'responses']),
      'The contract that this upstream speaks: "responses" where reasoning is to survive from turn to turn. Default: "chat".',
    ),
    apiKey,
    capField: maybe(
      z.enum(['max_tokens', 'max_completion_tokens']),
      'The field in which this upstream takes the output cap. Default: max_completion_tokens at OpenAI itself, max_tokens elsewhere.',
    ),
    ...signing,
    serviceTier,
    streamOptions: maybe(
      z.boolean(),
      'false for an upstream that refuses stream_options; its answers are billed by estimate. Default: true.',
    ),
    headers: maybe(
      z.record(headerName, z.string().regex(/^[\x20-\x7e]{0,1000}$/, 'must be plain ASCII')),
      'Headers that are sent with every request to this upstream.',
    ),
    allowFields,
    ...common,
  }),
  anthropic: z.strictObject({
    type: z.literal('anthropic').describe('Anthropic’s Messages API.'),
    baseUrl: baseUrl.describe('https://api.anthropic.com/v1'),
    apiKey,
    ...signing,
    serviceTier,
    ...common,
  }),
  bedrock: z.strictObject({
    type: z.literal('bedrock').describe('Amazon Bedrock’s Converse API, called with the function’s own role.'),
    region: region.describe('The AWS region whose Bedrock is called.'),
    ...common,
  }),
} satisfies { [Type in ProviderEntry['type']]: z.ZodType<Extract<ProviderEntry, { type: Type }>> }

type Provider = (typeof PROVIDERS)[ProviderEntry['type']]
const provider = z.discriminatedUnion('type', Object.values(PROVIDERS) as [Provider, ...Provider[]])

const route = z.strictObject({
  provider: name.describe('A name under providers.'),
  model: name.describe('The model’s name at that provider.'),
  priority: z.int().min(0).max(1000).default(0).describe('Lower is tried first.'),
  weight: z.int().min(1).max(1000).default(1).describe('The share of requests among routes of one priority.'),
  firstByteTimeoutMs: timeoutMs
    .default(FIRST_BYTE_TIMEOUT_MS)
    .describe(
      'An answer that has not begun by then is given up, and the next route is tried. Below 300,000, JSON answers are streamed from the upstream, too.',
    ),
  idleTimeoutMs: timeoutMs.default(IDLE_TIMEOUT_MS).describe('The longest pause between two pieces of an answer.'),
  cost: maybe(prices, COST),
})

const routesOf = <R extends z.ZodType>(one: R) =>
  z.array(one).min(1, 'must have at least one route').describe('The upstreams that can answer for this model.')
const KIND = 'chat, or embedding for a model that makes vectors of texts. Default: chat.'
const MOST_OUTPUT = 'The most tokens of one answer; the cap where a caller names none.'
const wholeContext = maybe(count, 'Default: the whole context.')

const anyModel = z.strictObject({
  id: modelId.describe('The name that callers use.'),
  name: maybe(name, 'The name for people. Default: id.'),
  ownedBy: maybe(name, 'Default: the provider of the first route.'),
  active: z.boolean().default(true).describe('false hides the model from callers.'),
  created: z.int().min(0).default(0).describe('Unix seconds, as GET /v1/models shows it.'),
  contextLength: count.describe(
    'The most tokens of prompt and answer together. No prompt is held for more, so it must not be too small.',
  ),
  pinnable: maybe(z.boolean(), 'true lets callers pin a route whose cost is above the price. Default: false.'),
  allowFields,
})

const chatModel = anyModel.extend({
  kind: maybe(z.literal('chat'), KIND),
  maxOutputTokens: count.describe(MOST_OUTPUT),
  price: prices.describe(PRICE),
  routes: routesOf(route),
  fallback: maybe(
    z.array(modelId).max(10),
    'Models to try when every route of this one is out, in this order, at this model’s price.',
  ),
  paidFallback: maybe(
    z.array(modelId).max(10),
    'Models of fallback that may answer although this one is free and they are not.',
  ),
  media: maybe(
    z.array(z.enum(MEDIA_KINDS)).max(MEDIA_KINDS.length),
    'The kinds of content that the model takes beside text. Default: all. An address may be any of them.',
  ),
  mediaTokens: maybe(
    z.strictObject({
      image: maybe(count, 'Default: 50,000.'),
      audio: wholeContext,
      video: wholeContext,
      file: wholeContext,
    }),
    'The most tokens that one part of the prompt can be, by its kind.',
  ),
  maxToolCalls: maybe(
    z.int().min(1).max(1000),
    'The most calls of tools that the provider runs, of all together or, at Anthropic, of each. Default: 10.',
  ),
  vectorStores: maybe(
    z.array(z.string().regex(/^[\w-]{1,128}$/, 'must be the id of a vector store')).max(100),
    'The vector stores at the provider that every caller may search with file_search. Default: none.',
  ),
})

/** It has no `fallback`: the vectors of two models cannot be compared. */
const embeddingModel = anyModel.extend({
  kind: z.literal('embedding').describe(KIND),
  dimensions: z
    .int()
    .min(1)
    .max(100_000)
    .describe('The numbers in a vector, unless the caller asks for fewer. Vectors of another length are refused.'),
  maxOutputTokens: z.literal(0).default(0).describe(MOST_OUTPUT),
  price: embeddingPrices.describe(PRICE),
  routes: routesOf(route.extend({ cost: embeddingPrices.optional().describe(COST) })),
})

const model = z.discriminatedUnion('kind', [chatModel, embeddingModel]).transform((entry) => ({
  ...entry,
  name: entry.name ?? entry.id,
  ownedBy: entry.ownedBy ?? entry.routes[0]?.provider ?? 'unknown',
}))

export const catalogFields = z
  .strictObject({
    $schema: maybe(z.string(), 'The address of this schema, for editors.'),
    $comment: maybe(
      z.string().max(4000),
      'A remark for people. `waybill catalog prices` writes here which lists it has read.',
    ),
    providers: z
      .record(
        z
          .string()
          .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be lower-case letters, digits and -')
          .refine(isStorable, UNSTORABLE),
        provider,
      )
      .describe('The upstreams, by the name that routes and the X-Svc-Provider header use.'),
    models: z.array(model).describe('The models, in the order in which GET /v1/models lists them.'),
  })
  .meta({
    title: 'A Waybill catalog',
    description: 'The models that callers may ask, their prices, and their upstreams.',
  })

function isSafeBaseUrl(text: string): boolean {
  if (!isPlainLine(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username || password || search || hash) return false
  return protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.test(hostname))
}

export function catalogSchema(): object {
  return z.toJSONSchema(catalogFields, { io: 'input' })
}
