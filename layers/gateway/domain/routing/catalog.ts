import type { ContractName } from '../../endpoints.ts'
import { type Price, type PriceStrings, parsePrice } from '../money/price.ts'

// The schema in layers/catalog/catalog-schema.ts says what each field of a catalog means.

type AnyEntry = {
  readonly unknownFields?: 'refuse' | 'drop' | undefined
  readonly upstreamStream?: boolean | undefined
}

type HttpEntry = AnyEntry & {
  readonly baseUrl: string
  readonly apiKey?: string | undefined
  readonly auth?: 'sigv4' | undefined
  readonly region?: string | undefined
  readonly serviceTier?: string | undefined
}

export type OpenAiEntry = HttpEntry & {
  readonly type: 'openai'
  readonly contract?: 'chat' | 'responses' | undefined
  readonly capField?: 'max_tokens' | 'max_completion_tokens' | undefined
  readonly streamOptions?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly allowFields?: readonly string[] | undefined
}

export type AnthropicEntry = HttpEntry & { readonly type: 'anthropic' }

export type BedrockEntry = AnyEntry & { readonly type: 'bedrock'; readonly region: string }

export type ProviderEntry = OpenAiEntry | AnthropicEntry | BedrockEntry

/** The format in which a provider is asked, if callers can ask in it, too. */
export function formatOf(entry: ProviderEntry | undefined): ContractName | undefined {
  if (entry?.type === 'openai') return entry.contract ?? 'chat'
  return entry?.type === 'anthropic' ? 'messages' : undefined
}

export function apiKeyOf(entry: ProviderEntry): string | undefined {
  return entry.type === 'bedrock' ? undefined : entry.apiKey
}

/** Variables of AWS and of this gateway hold our own credentials and settings: no provider is ever sent one. */
export function isOwnVariable(name: string): boolean {
  return /^(AWS|WAYBILL)_/i.test(name)
}

export function providerFields(entry: ProviderEntry | undefined): readonly string[] {
  return entry?.type === 'openai' ? (entry.allowFields ?? []) : []
}

/** The default of routes. Models that reason send nothing for minutes, and an answer given up is billed all the same. */
export const FIRST_BYTE_TIMEOUT_MS = 300_000

export type UpstreamRoute = {
  readonly provider: string
  readonly model: string
  readonly priority: number
  readonly weight: number
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly cost?: PriceStrings | undefined
}

type ModelKind = 'chat' | 'embedding'

export const MEDIA_KINDS = ['image', 'audio', 'video', 'file'] as const
export type MediaKind = (typeof MEDIA_KINDS)[number]

export type CatalogModel = {
  readonly id: string
  readonly kind?: ModelKind | undefined
  readonly name: string
  readonly ownedBy: string
  readonly active: boolean
  readonly created: number
  /** An embedding model takes no more tokens in one text. */
  readonly contextLength: number
  readonly maxOutputTokens: number
  readonly dimensions?: number | undefined
  readonly price: PriceStrings
  readonly routes: readonly UpstreamRoute[]
  readonly fallback?: readonly string[] | undefined
  readonly paidFallback?: readonly string[] | undefined
  readonly pinnable?: boolean | undefined
  readonly allowFields?: readonly string[] | undefined
  readonly media?: readonly MediaKind[] | undefined
  readonly mediaTokens?: Readonly<{ [Kind in MediaKind]?: number | undefined }> | undefined
  readonly maxToolCalls?: number | undefined
  readonly vectorStores?: readonly string[] | undefined
}

/** The prices of some keys: those of the catalog times a factor, or, for some models, prices of its own. */
export type Plan = {
  readonly factor: string
  readonly prices?: Readonly<Record<string, PriceStrings>> | undefined
  /** Settings of keys that are made with it, in the admin API's form. */
  readonly defaults?: Readonly<Record<string, unknown>> | undefined
}
export type Plans = Readonly<Record<string, Plan>>

export type CatalogData = {
  readonly providers: Readonly<Record<string, ProviderEntry>>
  readonly models: readonly CatalogModel[]
  /** Not in the operator's file: a push and a rollback keep them. */
  readonly plans?: Plans | undefined
}

/** The factor is that of a plan, if the price is the catalog's times it. */
export type PricedModel = CatalogModel & { readonly tokenPrice: Price; readonly factor?: string }

export type Catalog = {
  readonly version: number
  readonly providers: ReadonlyMap<string, ProviderEntry>
  /** Active models only, by id, in the order of the file. */
  readonly models: ReadonlyMap<string, PricedModel>
  readonly plans?: Plans | undefined
  /** The plan whose prices the models have, and the catalog without it. */
  readonly plan?: string
  readonly base?: Catalog
}

export function kindOf({ kind = 'chat' }: CatalogModel): ModelKind {
  return kind
}

/** The maker of an embedding model at Bedrock, whose format its requests have; undefined if the name does not tell. */
export function embedderAt(bedrockModel: string): 'titan' | 'cohere' | undefined {
  if (bedrockModel.includes('amazon.titan-embed-')) return 'titan'
  return bedrockModel.includes('cohere.embed-') ? 'cohere' : undefined
}

export const EMPTY_CATALOG: Catalog = { version: 0, providers: new Map(), models: new Map() }

export function openCatalog(data: CatalogData, version: number): Catalog {
  const active = data.models.filter((model) => model.active)
  return {
    version,
    plans: data.plans,
    providers: new Map(Object.entries(data.providers)),
    models: new Map(active.map((model) => [model.id, { ...model, tokenPrice: parsePrice(model.price) }])),
  }
}

/** The names that providers give to the tier at their list price. */
const AT_LIST_PRICE: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand'])
const NAME = /^[\w.-]{1,32}$/

export function otherTier(served: unknown): string | undefined {
  if (typeof served !== 'string' || !NAME.test(served)) return undefined
  const name = served.toLowerCase()
  return AT_LIST_PRICE.has(name) ? undefined : name
}
