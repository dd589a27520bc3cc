import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import { type Reply, status, type UpstreamRequest } from './upstream.ts'

export const DIMENSIONS = 4

/** A catalog with the embedding model `test-embedding` of 4 numbers at 1 credit per million tokens, and the chat model `test-model`. */
export function embeddingCatalog(urls: readonly string[], model: object = {}): CatalogData {
  const providers = urls.map((baseUrl, i) => [`up${i}`, { type: 'openai', baseUrl }])
  const routes = urls.map((_, i) => ({ provider: `up${i}`, model: 'upstream-model', priority: i }))
  return requireCatalog({
    providers: Object.fromEntries(providers),
    models: [
      {
        id: 'test-embedding',
        kind: 'embedding',
        contextLength: 8_192,
        dimensions: DIMENSIONS,
        price: { input: '1' },
        routes,
        ...model,
      },
      { id: 'test-model', contextLength: 8_192, maxOutputTokens: 100, price: { input: '1', output: '2' }, routes },
    ],
  })
}

/** The vector of the text at a place: its first number is the place. All are 32-bit floats exactly. */
export function vectorAt(place: number, dimensions = DIMENSIONS): number[] {
  return Array.from({ length: dimensions }, (_, i) => (i === 0 ? place : i / 8))
}

export function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

export function inputsOf({ body }: UpstreamRequest): readonly unknown[] {
  const { input } = body
  return Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
}

type Told = { usage?: unknown; format?: 'float' | 'base64'; change?: (data: object[]) => object[] }

/** One vector for each text, in the format that was asked for, or in another one; 10 tokens unless told otherwise. */
export function embed(told: Told = {}): Reply {
  return (response, request) => {
    const { usage = { prompt_tokens: 10, total_tokens: 10 }, change = (data) => data } = told
    const format = told.format ?? request.body.encoding_format ?? 'float'
    const { dimensions } = request.body as { dimensions?: number }
    const data = inputsOf(request).map((_, index) => {
      const vector = vectorAt(index, dimensions)
      return { object: 'embedding', index, embedding: format === 'base64' ? base64Of(vector) : vector }
    })
    const answer = { object: 'list', data: change(data), model: 'upstream-model', ...(usage !== null && { usage }) }
    status(200, answer)(response, request)
  }
}
