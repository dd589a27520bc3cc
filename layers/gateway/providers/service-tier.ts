import type { JsonObject } from '../domain/basics/json-object.ts'
import type { AnthropicEntry, OpenAiEntry } from '../domain/routing/catalog.ts'
import type { ChatCall } from './provider.ts'

/** The tier at the list price, of hosts at which a request without a tier may be served in a dearer one. */
const AT_LIST_PRICE = [
  { host: /^(?:.+\.)?api\.openai\.com$/, tier: 'default' },
  { host: /^api\.anthropic\.com$/, tier: 'standard_only' },
  { host: /^api\.groq\.com$/, tier: 'on_demand' },
]

export function serviceTierOf({ serviceTier, baseUrl }: OpenAiEntry | AnthropicEntry): string | undefined {
  const { hostname } = new URL(baseUrl)
  return serviceTier ?? AT_LIST_PRICE.find(({ host }) => host.test(hostname))?.tier
}

/** The caller's tier is replaced unless the operator allows it. `auto` may be dearer, so it becomes the list price. */
export function inServiceTier(
  request: JsonObject,
  { extra }: ChatCall,
  tier: string | undefined,
  atListPrice = 'default',
): JsonObject {
  const { service_tier: asked, ...rest } = request
  if (asked !== undefined && asked === extra.service_tier) return request
  const sent = tier ?? (asked === 'auto' ? atListPrice : asked)
  return sent === undefined ? rest : { ...rest, service_tier: sent }
}
