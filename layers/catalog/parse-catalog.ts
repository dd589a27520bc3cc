import { bedrockOrigins, signingName } from '../gateway/domain/routing/bedrock-address.ts'
import {
  type CatalogData,
  type CatalogModel,
  embedderAt,
  type ProviderEntry,
} from '../gateway/domain/routing/catalog.ts'
import { catalogFields } from './catalog-schema.ts'
import { FAULT_WORDS } from './fault-words.ts'

// For the operator's tools and the local gateway only: in AWS a catalog was checked when it was pushed.

/** The wrong place of a route that cannot make vectors, and why. Bedrock has a format of its own for each maker's. */
const WITHOUT_VECTORS: Readonly<
  Record<ProviderEntry['type'], (routed: string) => readonly ['provider' | 'model', string] | undefined>
> = {
  openai: () => undefined,
  anthropic: () => ['provider', 'Anthropic has no embeddings'],
  bedrock: (routed) =>
    embedderAt(routed)
      ? undefined
      : ['model', "of Bedrock's embedding models only amazon.titan-embed-… and cohere.embed-… are known"],
}

/** The wrong fields of a provider whose requests are signed, or of one that only looks so. */
function signingFaults(entry: ProviderEntry): (readonly [field: string, message: string])[] {
  if (entry.type === 'bedrock') return []
  const { auth, region, apiKey, baseUrl } = entry
  if (!auth)
    return region ? [['region', 'is only for requests that are signed. Add "auth": "sigv4", or leave it out']] : []
  const faults: (readonly [string, string])[] = []
  if (apiKey) faults.push(['apiKey', 'must be left out: with "auth": "sigv4" the function’s role signs each request'])
  if (!region) faults.push(['region', 'is missing: with "auth": "sigv4" it is the AWS region whose Bedrock is called'])
  else if (!signingName(baseUrl, region)) {
    const known = bedrockOrigins(region).join(' or ')
    faults.push(['baseUrl', `must begin with ${known}: requests that are signed for ${region} go nowhere else`])
  }
  return faults
}

const catalog = catalogFields
  .check(({ value, issues }) => {
    const seen = new Set<string>()
    const models: readonly CatalogModel[] = value.models
    for (const [id, entry] of Object.entries(value.providers)) {
      for (const [field, message] of signingFaults(entry)) report(['providers', id, field], message)
    }
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
    for (const [i, { id, fallback = [], paidFallback = [] }] of models.entries()) {
      for (const [j, other] of paidFallback.entries()) {
        if (!fallback.includes(other)) report(['models', i, 'paidFallback', j], `'${other}' is not in fallback`)
      }
      for (const [j, other] of fallback.entries()) {
        if (other === id) report(['models', i, 'fallback', j], 'a model cannot be its own fallback')
        else if (!seen.has(other)) report(['models', i, 'fallback', j], `there is no model '${other}'`)
        else if (embedders.has(other)) report(['models', i, 'fallback', j], `the model '${other}' has no words`)
      }
    }
    function requireEmbedder(entry: ProviderEntry | undefined, routed: string, path: (string | number)[]) {
      const [place, message] = (entry && WITHOUT_VECTORS[entry.type](routed)) ?? []
      if (place !== undefined && message !== undefined) report([...path, place], message)
    }
    function report(path: (string | number)[], message: string) {
      issues.push({ code: 'custom', path, message, input: value })
    }
  })
  .transform(({ providers, models }) => ({ providers, models }))

export type CatalogFault = { readonly path: string; readonly message: string }

/** The checked catalog, or every fault in it with its path: as one text, and separately. */
export type ParsedCatalog =
  | { readonly catalog: CatalogData }
  | { readonly faults: readonly string[]; readonly places: readonly CatalogFault[] }

export function parseCatalog(value: unknown): ParsedCatalog {
  const result = catalog.safeParse(value, FAULT_WORDS)
  if (result.success) return { catalog: result.data }
  const places = result.error.issues.map(({ path, message }) => ({ path: pathText(path), message }))
  return { faults: places.map(({ path, message }) => `${path}: ${message}`), places }
}

/** A catalog from a table, with the plans beside the content of a file. A damaged plan is found by whoever asks for it. */
export function parseStored({ plans, ...file }: CatalogData): ParsedCatalog {
  const parsed = parseCatalog(file)
  return 'faults' in parsed ? parsed : { catalog: { ...parsed.catalog, plans } }
}

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
