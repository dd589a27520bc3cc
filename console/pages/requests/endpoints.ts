import type { EndpointName } from '../../../layers/gateway/endpoints.ts'

/** The table of endpoints would bring its routes and rights into the page. */
export const MODEL_ENDPOINTS: readonly EndpointName[] = [
  'chat.completions',
  'responses',
  'completions',
  'embeddings',
  'messages',
  'messages.count_tokens',
]
/** They list models, tell about a key or a request, or are not known. */
export const OTHER_ENDPOINTS: readonly EndpointName[] = [
  'models',
  'key.introspect',
  'credits',
  'usage',
  'quote',
  'unknown',
]

export function isForModel({ endpoint }: { readonly endpoint: string }): boolean {
  return (MODEL_ENDPOINTS as readonly string[]).includes(endpoint)
}
