import { z } from 'zod'
import { catalog } from '../../catalog/parse-catalog.ts'

type Schema = { [keyword: string]: unknown }

/** Decimals as the validator's own checks want them; a JSON Schema has no other word for such a check. */
const PRICE = { pattern: '^(0|[1-9]\\d*)(\\.\\d{1,6})?$' }
const AMOUNT = { pattern: '^(0|[1-9]\\d*)(\\.\\d{1,9})?$' }
const BASE_URL = { pattern: '^(https://.+|http://(127(\\.\\d+){3}|\\[::1\\]|localhost)([:/].*)?|local:echo)$' }

const PRICES: Readonly<Record<string, Schema>> = {
  input: { description: 'Credits per million prompt tokens, as a decimal string.', ...PRICE },
  output: { description: 'Credits per million completion tokens, as a decimal string.', ...PRICE },
  cachedInput: { description: 'Credits per million prompt tokens read from a cache. Default: input.', ...PRICE },
  cacheWrite: {
    description:
      'Credits per million prompt tokens that a provider writes to its cache. Without this price no cache_control is sent.',
    ...PRICE,
  },
  cacheWrite1h: {
    description:
      'Credits per million prompt tokens that a provider writes to its cache for an hour. Without this price a ttl of 1h is shortened to the default life.',
    ...PRICE,
  },
  request: { description: 'Credits for each request. Default: 0.', ...AMOUNT },
  image: { description: 'Credits for each image in the prompt. Default: 0.', ...AMOUNT },
  tiers: { description: 'Prices of requests with long prompts, rising by above, at most 4.' },
  'tiers.above': {
    description: 'The whole request is charged at this tier if its prompt has more tokens, cached ones included.',
  },
  'tiers.input': { description: 'As input, within this tier.', ...PRICE },
  'tiers.output': { description: 'As output, within this tier.', ...PRICE },
  'tiers.cachedInput': { description: 'As cachedInput. Default: the input of this tier.', ...PRICE },
  'tiers.cacheWrite': {
    description: 'As cacheWrite. Default: in the proportion to input that the base price has.',
    ...PRICE,
  },
  'tiers.cacheWrite1h': {
    description: 'As cacheWrite1h. Default: in the proportion that the base price has.',
    ...PRICE,
  },
}

const KEY_REFERENCE = {
  description:
    'Where the provider’s key is kept, never the key itself: env:NAME is a variable of `npm start`, secret:NAME is in the secret waybill/STAGE/NAME in Secrets Manager, {"key": "sk-…", "hosts": ["api.openai.com"]}.',
}
const UPSTREAM_STREAM = {
  description:
    'true for an upstream that is asked to stream even where the caller gets one JSON answer, because it gives up on long silence. Default: false.',
}
const UNKNOWN_FIELDS = {
  description:
    'Whether a field that is unknown, or may cost extra, is refused with a 400 or left out and named in a header. Default: refuse.',
}
const FIELDS = { description: 'Request fields that callers may send although they may cost extra.' }

const NOTES: Readonly<Record<string, Schema>> = {
  '': {
    title: 'A Waybill catalog',
    description: 'The models that callers may ask, their prices, and their upstreams.',
  },
  $schema: { description: 'The address of this schema, for editors.' },
  providers: { description: 'The upstreams, by the name that routes and the X-Svc-Provider header use.' },
  'providers.openai.type': { description: 'An upstream that speaks OpenAI’s chat completions or Responses.' },
  'providers.openai.baseUrl': {
    description: 'https, or http on this machine, or local:echo, the upstream that `npm start` brings along.',
    ...BASE_URL,
  },
  'providers.openai.contract': {
    description:
      'The contract that this upstream speaks: "responses" where reasoning is to survive from turn to turn. Default: "chat".',
  },
  'providers.openai.apiKey': KEY_REFERENCE,
  'providers.openai.capField': {
    description:
      'The field in which this upstream takes the output cap. Default: max_completion_tokens at OpenAI itself, max_tokens elsewhere.',
  },
  'providers.openai.streamOptions': {
    description:
      'false for an upstream that refuses stream_options; its answers are billed by estimate. Default: true.',
  },
  'providers.openai.headers': { description: 'Headers that are sent with every request to this upstream.' },
  'providers.openai.allowFields': FIELDS,
  'providers.openai.unknownFields': UNKNOWN_FIELDS,
  'providers.openai.upstreamStream': UPSTREAM_STREAM,
  'providers.anthropic.type': { description: 'Anthropic’s Messages API.' },
  'providers.anthropic.baseUrl': { description: 'https://api.anthropic.com/v1', ...BASE_URL },
  'providers.anthropic.apiKey': KEY_REFERENCE,
  'providers.anthropic.unknownFields': UNKNOWN_FIELDS,
  'providers.anthropic.upstreamStream': UPSTREAM_STREAM,
  'providers.bedrock.type': { description: 'Amazon Bedrock’s Converse API, called with the function’s own role.' },
  'providers.bedrock.region': { description: 'The AWS region whose Bedrock is called.' },
  'providers.bedrock.unknownFields': UNKNOWN_FIELDS,
  'providers.bedrock.upstreamStream': UPSTREAM_STREAM,
  models: { description: 'The models, in the order in which GET /v1/models lists them.' },
  'models.id': { description: 'The name that callers use.' },
  'models.kind': {
    description: 'chat, or embedding for a model that makes vectors of texts. Default: chat.',
  },
  'models.dimensions': {
    description: 'The numbers in a vector, unless the caller asks for fewer. Vectors of another length are refused.',
  },
  'models.name': { description: 'The name for people. Default: id.' },
  'models.ownedBy': { description: 'Default: the provider of the first route.' },
  'models.active': { description: 'false hides the model from callers.' },
  'models.created': { description: 'Unix seconds, as GET /v1/models shows it.' },
  'models.contextLength': {
    description:
      'The most tokens of prompt and answer together. No prompt is held for more, so it must not be too small.',
  },
  'models.maxOutputTokens': { description: 'The most tokens of one answer; the cap where a caller names none.' },
  'models.price': { description: 'What callers pay.' },
  'models.routes': { description: 'The upstreams that can answer for this model.' },
  'models.routes.provider': { description: 'A name under providers.' },
  'models.routes.model': { description: 'The model’s name at that provider.' },
  'models.routes.priority': { description: 'Lower is tried first.' },
  'models.routes.weight': { description: 'The share of requests among routes of one priority.' },
  'models.routes.firstByteTimeoutMs': {
    description:
      'An answer that has not begun by then is given up, and the next route is tried. Below 300,000, JSON answers are streamed from the upstream, too.',
  },
  'models.routes.idleTimeoutMs': { description: 'The longest pause between two pieces of an answer.' },
  'models.routes.cost': { description: 'What the provider bills the operator, in the shape of price.' },
  'models.fallback': {
    description: 'Models to try when every route of this one is out, in this order, at this model’s price.',
  },
  'models.pinnable': {
    description: 'true lets callers pin a route whose cost is above the price. Default: false.',
  },
  'models.allowFields': FIELDS,
  'models.mediaTokens': { description: 'The most tokens that one part of the prompt can be, by its kind.' },
  'models.mediaTokens.image': { description: 'Default: 50,000.' },
  'models.mediaTokens.audio': { description: 'Default: the whole context.' },
  'models.mediaTokens.video': { description: 'Default: the whole context.' },
  'models.mediaTokens.file': { description: 'Default: the whole context.' },
  ...Object.fromEntries(
    ['models.price', 'models.routes.cost'].flatMap((path) =>
      Object.entries(PRICES).map(([name, note]) => [`${path}.${name}`, note]),
    ),
  ),
}

/** The JSON Schema of a catalog file: the validator's own shape, with words for editors to show. */
export function catalogSchema(): Schema {
  return annotate(z.toJSONSchema(catalog, { io: 'input' }) as Schema, '')
}

/** A list's note is its own: its elements have notes on their fields only. */
function annotate(schema: Schema, path: string, note = NOTES[path] ?? {}): Schema {
  const { properties, items, oneOf, additionalProperties, ...rest } = schema
  return {
    ...rest,
    ...note,
    ...(isSchema(properties) && {
      properties: mapValues(properties, (name, value) => annotate(value, path === '' ? name : `${path}.${name}`)),
    }),
    ...(isSchema(items) && { items: annotate(items, path, {}) }),
    ...(Array.isArray(oneOf) && { oneOf: oneOf.map((one: Schema) => annotate(one, pathOf(path, one))) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isSchema(additionalProperties)
        ? annotate(additionalProperties, path, {})
        : additionalProperties,
    }),
  }
}

/** Types of providers have notes of their own, while kinds of models share theirs. */
function pathOf(path: string, { properties }: Schema): string {
  const { type } = properties as { type?: { const: string } }
  return type ? `${path}.${type.const}` : path
}

function mapValues(object: Schema, change: (name: string, value: Schema) => Schema): Schema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value as Schema)]))
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
