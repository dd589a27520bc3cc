import { z } from 'zod'
import {
  type CatalogData,
  type CatalogModel,
  embedderAt,
  FIRST_BYTE_TIMEOUT_MS,
  isOwnVariable,
  type ProviderEntry,
} from '../layers/gateway/domain/catalog.ts'
import { isPlainLine } from '../layers/gateway/domain/plain-text.ts'
import { isAmount, isPrice } from '../layers/gateway/domain/price.ts'

// For the operator's tools and the local gateway only: in AWS a catalog was checked when it was pushed.

const name = z
  .string()
  .min(1)
  .max(200)
  .refine(isPlainLine, 'must be on one line, without control characters, marks of direction and invisible ones')
const modelId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/, 'must be letters, digits and . _ : / @ - (at most 128)')
const price = z
  .string('must be a decimal string in credits per million tokens, such as "0.15"')
  .refine(isPrice, 'must be a decimal string in credits per million tokens with at most 6 decimals, such as "0.15"')
const amount = z
  .string('must be a decimal string in credits, such as "0.005"')
  .refine(isAmount, 'must be a decimal string in credits with at most 9 decimals, such as "0.005"')
const count = z.int().min(1).max(100_000_000)
const tokenPrices = {
  input: price,
  output: price,
  cachedInput: price.optional(),
  cacheWrite: price.optional(),
  cacheWrite1h: price.optional(),
}
const tiers = z
  .array(z.strictObject({ above: count, ...tokenPrices }))
  .max(4, 'must be at most 4 tiers')
  .refine(
    (list) => list.every(({ above }, i) => above > (list[i - 1]?.above ?? Number.NEGATIVE_INFINITY)),
    'must rise: each tier begins above the one before',
  )
const prices = z
  .strictObject({ ...tokenPrices, request: amount.optional(), image: amount.optional(), tiers: tiers.optional() })
  .refine(({ cacheWrite, cacheWrite1h }) => cacheWrite !== undefined || cacheWrite1h === undefined, {
    path: ['cacheWrite1h'],
    error: 'must stand beside a cacheWrite, the price of the default life in a cache',
  })
/** Vectors are no tokens: they have no price. A default and not a transform, so that a stored catalog is valid again. */
const embeddingPrices = z.strictObject({
  input: price,
  output: z.literal('0').default('0'),
  request: amount.optional(),
})
const timeoutMs = z.int().min(100).max(840_000)
const IDLE_TIMEOUT_MS = 60_000
const fields = z
  .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'must be the name of a field of the request'))
  .max(100)

const baseUrl = z
  .string()
  .refine(isSafeBaseUrl, 'must be an https address, or http on this machine (127.0.0.1, [::1], localhost)')
const apiKey = z
  .string()
  .regex(/^(env|secret):[A-Za-z0-9_./-]+$/, 'must be "env:NAME" or "secret:NAME", never the key itself')
  .refine(
    (reference) => !reference.startsWith('env:') || !isOwnVariable(reference.slice('env:'.length)),
    'must not name a variable of AWS or of this gateway (AWS_…, WAYBILL_…)',
  )
  .optional()

/** AWS's SDK cannot store an object with a field such as `constructor`. */
const isStorable = (name: string) => !(name in Object.prototype)
const UNSTORABLE = 'must be another name: the table cannot keep this one'

/** Headers that authenticate or frame a request are ours to send, and a key has its own place. */
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be a header name')
  .refine(
    (name) => !/^(authorization|api-key|x-api-key|content-.*|host|connection|transfer-encoding)$/i.test(name),
    'must not be a header that we send ourselves; a key belongs into apiKey',
  )
  .refine(isStorable, UNSTORABLE)

const unknownFields = z.enum(['refuse', 'drop']).optional()
const upstreamStream = z.boolean().optional()

const PROVIDERS = {
  openai: z.strictObject({
    type: z.literal('openai'),
    baseUrl,
    contract: z.enum(['chat', 'responses']).optional(),
    apiKey,
    capField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    streamOptions: z.boolean().optional(),
    headers: z.record(headerName, z.string().regex(/^[\x20-\x7e]{0,1000}$/, 'must be plain ASCII')).optional(),
    allowFields: fields.optional(),
    unknownFields,
    upstreamStream,
  }),
  anthropic: z.strictObject({ type: z.literal('anthropic'), baseUrl, apiKey, unknownFields, upstreamStream }),
  bedrock: z.strictObject({
    type: z.literal('bedrock'),
    region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region such as us-east-1'),
    unknownFields,
    upstreamStream,
  }),
} satisfies { [Type in ProviderEntry['type']]: z.ZodType<Extract<ProviderEntry, { type: Type }>> }

type Provider = (typeof PROVIDERS)[ProviderEntry['type']]
const types = Object.keys(PROVIDERS).map((type) => `"${type}"`)
const provider = z.discriminatedUnion(
  'type',
  Object.values(PROVIDERS) as [Provider, ...Provider[]],
  `must be ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(types)}`,
)

const route = z.strictObject({
  provider: name,
  model: name,
  priority: z.int().min(0).max(1000).default(0),
  weight: z.int().min(1).max(1000).default(1),
  firstByteTimeoutMs: timeoutMs.default(FIRST_BYTE_TIMEOUT_MS),
  idleTimeoutMs: timeoutMs.default(IDLE_TIMEOUT_MS),
  cost: prices.optional(),
})

const anyModel = z.strictObject({
  id: modelId,
  name: name.optional(),
  ownedBy: name.optional(),
  active: z.boolean().default(true),
  created: z.int().min(0).default(0),
  contextLength: count,
  pinnable: z.boolean().optional(),
  allowFields: fields.optional(),
})

const chatModel = anyModel.extend({
  kind: z.literal('chat').optional(),
  maxOutputTokens: count,
  price: prices,
  routes: z.array(route).min(1, 'must have at least one route'),
  fallback: z.array(modelId).max(10).optional(),
  mediaTokens: z.strictObject({ image: count, audio: count, video: count, file: count }).partial().optional(),
})

/** Without `fallback`: the vectors of two models cannot be compared. */
const embeddingModel = anyModel.extend({
  kind: z.literal('embedding'),
  dimensions: z.int().min(1).max(100_000),
  maxOutputTokens: z.literal(0).default(0),
  price: embeddingPrices,
  routes: z.array(route.extend({ cost: embeddingPrices.optional() })).min(1, 'must have at least one route'),
})

const model = z
  .discriminatedUnion('kind', [chatModel, embeddingModel], 'must be "chat" or "embedding"')
  .transform((entry) => ({
    ...entry,
    name: entry.name ?? entry.id,
    ownedBy: entry.ownedBy ?? entry.routes[0]?.provider ?? 'unknown',
  }))

export const catalog = z
  .strictObject({
    $schema: z.string().optional(),
    providers: z.record(
      z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be lower-case letters, digits and -')
        .refine(isStorable, UNSTORABLE),
      provider,
    ),
    models: z.array(model),
  })
  .check(({ value, issues }) => {
    const seen = new Set<string>()
    const models: readonly CatalogModel[] = value.models
    const embedders = new Set(models.filter(({ kind }) => kind === 'embedding').map(({ id }) => id))
    for (const [i, { id, kind, routes }] of models.entries()) {
      if (seen.has(id)) report(['models', i, 'id'], `the id '${id}' is used twice`)
      seen.add(id)
      for (const [j, { provider: used, model: routed }] of routes.entries()) {
        if (kind === 'embedding') requireEmbedder(value.providers[used], routed, ['models', i, 'routes', j])
        if (Object.hasOwn(value.providers, used)) continue
        const known = Object.keys(value.providers).join(', ') || 'none'
        report(['models', i, 'routes', j, 'provider'], `there is no provider '${used}' (there is: ${known})`)
      }
    }
    for (const [i, { id, fallback = [] }] of models.entries()) {
      for (const [j, other] of fallback.entries()) {
        if (other === id) report(['models', i, 'fallback', j], 'a model cannot be its own fallback')
        else if (!seen.has(other)) report(['models', i, 'fallback', j], `there is no model '${other}'`)
        else if (embedders.has(other)) report(['models', i, 'fallback', j], `the model '${other}' has no words`)
      }
    }
    /** Anthropic has no embeddings, and Bedrock has words of its own for those of each maker. */
    function requireEmbedder(entry: ProviderEntry | undefined, routed: string, path: (string | number)[]) {
      if (entry?.type === 'anthropic') report([...path, 'provider'], 'Anthropic has no embeddings')
      if (entry?.type === 'bedrock' && !embedderAt(routed)) {
        report(
          [...path, 'model'],
          "of Bedrock's embedding models only amazon.titan-embed-… and cohere.embed-… are known",
        )
      }
    }
    function report(path: (string | number)[], message: string) {
      issues.push({ code: 'custom', path, message, input: value })
    }
  })
  .transform(({ providers, models }) => ({ providers, models }))

export type CatalogFault = { readonly path: string; readonly message: string }

/** The checked catalog, or every fault in it with its path: as a text, and apart. */
export type ParsedCatalog =
  | { readonly catalog: CatalogData }
  | { readonly faults: readonly string[]; readonly places: readonly CatalogFault[] }

export function parseCatalog(value: unknown): ParsedCatalog {
  const result = catalog.safeParse(value)
  if (result.success) return { catalog: result.data }
  const places = result.error.issues.map(({ path, message }) => ({ path: pathText(path), message }))
  return { faults: places.map(({ path, message }) => `${path}: ${message}`), places }
}

/** For a catalog that is ours: throws if it is not valid. */
export function requireCatalog(value: unknown, name = 'The catalog'): CatalogData {
  const parsed = parseCatalog(value)
  if ('catalog' in parsed) return parsed.catalog
  throw new Error(`${name} is not valid: ${parsed.faults.join('; ')}`)
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'catalog'
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')
}

function isSafeBaseUrl(text: string): boolean {
  if (!isPlainLine(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  if (username || password || search || hash) return false
  return protocol === 'https:' || (protocol === 'http:' && /^(127(\.\d+){3}|\[::1\]|localhost)$/.test(hostname))
}
