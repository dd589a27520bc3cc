import document from '../../docs/openapi.json' with { type: 'json' }

/** The document of the contract, for the gateway that serves it. */
export function openapiText(): string {
  return JSON.stringify({ ...document, servers: [{ url: '/' }] })
}
