import type { ChatPart } from '../../layers/gateway/domain/chat/chat.ts'
import type { CatalogModel } from '../../layers/gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import type { Provider } from '../../layers/gateway/providers/provider.ts'
import { PLAN } from './catalogs.ts'
import type { Variant } from './commands.ts'
import type { Usage } from './scripted-upstream.ts'

const BROKEN = new UpstreamFailure('status', 'It fails.', { status: 500 })
const UNREACHABLE = new UpstreamFailure('connect', 'It is away.')

/** Gateways that do not sell by the prices and bounds of their catalog, or do not hear what their upstreams say. */
export const SELLING_VARIANTS: readonly Variant[] = [
  hearing('counts above the bound are thrown away', (usage) => (usage.prompt_tokens > 200 ? undefined : usage)),
  hearing('thinking that is counted in the total only is free', ({ total_tokens: _, ...usage }) => usage),
  hearing('half of an answer is charged', (usage) => ({
    prompt_tokens: Math.floor(usage.prompt_tokens / 2),
    completion_tokens: Math.floor(usage.completion_tokens / 2),
  })),
  failingAs('a field that a dialect lacks leads to the fallback', ({ reason }) => reason === 'unsupported', BROKEN),
  failingAs('a failure that a caller provokes leads to what costs more', ({ detail }) => detail.status === 404, BROKEN),
  failingAs('an attempt that was given up is no loss', ({ reason }) => reason === 'timeout', BROKEN),
  failingAs('one caller’s failures rest a route', ({ detail }) => detail.status === 500, UNREACHABLE),
  // Words that the gateway passes on and does not count, so that none of them is beyond a cap.
  hearingParts('an answer beyond its cap is not cut', (part) => [
    part.kind === 'choice' ? { ...part, delta: { uncounted: { ...part.delta } } } : part,
  ]),
  selling('every request is charged at its lowest tier', ({ price, ...model }) => ({
    ...model,
    price: { ...price, tiers: [] },
  })),
  selling('the cost of a route is counted at its lowest tier', ({ routes, ...model }) => ({
    ...model,
    routes: routes.map(({ cost, ...route }) => ({ ...route, ...(cost && { cost: { ...cost, tiers: [] } }) })),
  })),
  {
    name: 'a key with a plan is charged the price of the catalog',
    catalog: (catalog) => ({ ...catalog, plans: { [PLAN.name]: { factor: '1' } } }),
  },
  selling('a prompt is held for less than its bound', (model) => ({ ...model, contextLength: 50 })),
]

function selling(name: string, change: (model: CatalogModel) => CatalogModel): Variant {
  return { name, catalog: ({ models, ...more }) => ({ ...more, models: models.map(change) }) }
}

function hearingParts(
  name: string,
  hear: (part: ChatPart) => readonly ChatPart[],
  embed?: (provider: Provider) => NonNullable<Provider['embed']>,
): Variant {
  return {
    name,
    provider: (provider) => ({
      ...provider,
      async *chat(call) {
        for await (const parts of await provider.chat(call)) yield parts.flatMap(hear)
      },
      ...(embed && { embed: embed(provider) }),
    }),
  }
}

/** An upstream's counts are not what the gateway bills. */
function hearing(name: string, hear: (usage: Usage) => Usage | undefined): Variant {
  const hearPart = (part: ChatPart): ChatPart[] => {
    if (part.kind !== 'usage') return [part]
    const usage = hear(part.usage as Usage)
    return usage ? [{ kind: 'usage', usage }] : []
  }
  return hearingParts(name, hearPart, (provider) => async (call) => {
    const embedding = await provider.embed?.(call)
    if (!embedding) throw new Error('A scripted upstream embeds.')
    return { ...embedding, usage: embedding.usage && hear({ ...(embedding.usage as Usage), completion_tokens: 0 }) }
  })
}

/** A failure is taken for another one, whose doing is another's. */
function failingAs(name: string, isIt: (failure: UpstreamFailure) => boolean, as: UpstreamFailure): Variant {
  return {
    name,
    provider: (provider) => ({
      ...provider,
      async *chat(call) {
        try {
          yield* await provider.chat(call)
        } catch (error) {
          throw error instanceof UpstreamFailure && isIt(error) ? as : error
        }
      },
    }),
  }
}
