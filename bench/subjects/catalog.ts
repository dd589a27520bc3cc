import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { MODELS } from '../around/answers.ts'

/** Every model of the bench, at one upstream that needs no key. */
export function catalogFor(upstreamUrl: string): CatalogData {
  return requireCatalog({
    providers: { up: { type: 'openai', baseUrl: upstreamUrl } },
    models: MODELS.map((id) => ({
      id,
      contextLength: 100_000,
      maxOutputTokens: 1_000,
      price: { input: '1', output: '2' },
      routes: [{ provider: 'up', model: id }],
    })),
  })
}
