import type { EndpointName } from '../../../layers/gateway/endpoints.ts'

/** Every endpoint, and whether it asks a model. The table of endpoints would bring its routes and rights into the page. */
export const ENDPOINTS: Readonly<Record<EndpointName, boolean>> = {
  'chat.completions': true,
  responses: true,
  completions: true,
  embeddings: true,
  messages: true,
  'messages.count_tokens': true,
  models: false,
  'key.introspect': false,
  credits: false,
  usage: false,
  quote: false,
  unknown: false,
}

export function isForModel({ endpoint }: { readonly endpoint: string }): boolean {
  return ENDPOINTS[endpoint as EndpointName] ?? false
}
