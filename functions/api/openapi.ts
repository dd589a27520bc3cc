import document from '../../docs/openapi.json' with { type: 'json' }

export function openapiText(): string {
  return JSON.stringify({ ...document, servers: [{ url: '/' }] })
}
