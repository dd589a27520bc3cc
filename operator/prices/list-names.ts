import type { ProviderEntry } from '../../layers/gateway/domain/catalog.ts'

/** The names that public lists have for a provider. */
export type ListNames = {
  readonly modelsDev: string
  readonly litellm: readonly string[]
  readonly portkey: string
  /** Of Bedrock, whose prices depend on it. */
  readonly region?: string | undefined
}

const BEDROCK: ListNames = {
  modelsDev: 'amazon-bedrock',
  litellm: ['bedrock_converse', 'bedrock'],
  portkey: 'bedrock',
}

/** By the host of a provider's `baseUrl`, or a domain that it is in. */
const BY_HOST: Readonly<Record<string, ListNames>> = {
  'api.openai.com': sameName('openai'),
  'api.anthropic.com': sameName('anthropic'),
  'openai.azure.com': { modelsDev: 'azure', litellm: ['azure'], portkey: 'azure-openai' },
  'openrouter.ai': sameName('openrouter'),
  'generativelanguage.googleapis.com': { modelsDev: 'google', litellm: ['gemini'], portkey: 'google' },
  'api.mistral.ai': { modelsDev: 'mistral', litellm: ['mistral'], portkey: 'mistral-ai' },
  'api.x.ai': { modelsDev: 'xai', litellm: ['xai'], portkey: 'x-ai' },
  'api.deepseek.com': sameName('deepseek'),
  'api.groq.com': sameName('groq'),
  'api.together.xyz': { modelsDev: 'togetherai', litellm: ['together_ai'], portkey: 'together-ai' },
  'api.fireworks.ai': { modelsDev: 'fireworks-ai', litellm: ['fireworks_ai'], portkey: 'fireworks-ai' },
  'api.deepinfra.com': sameName('deepinfra'),
  'api.cerebras.ai': sameName('cerebras'),
  'api.perplexity.ai': { modelsDev: 'perplexity', litellm: ['perplexity'], portkey: 'perplexity-ai' },
}

function sameName(name: string): ListNames {
  return { modelsDev: name, litellm: [name], portkey: name }
}

/** A server of one's own is in no list; any other host that is not known may have its name in the catalog from one. */
export function listNamesOf(id: string, entry: ProviderEntry): ListNames | undefined {
  if (entry.type === 'bedrock') return { ...BEDROCK, region: entry.region }
  if (!URL.canParse(entry.baseUrl)) return undefined
  const { protocol, hostname } = new URL(entry.baseUrl)
  if (protocol !== 'https:') return undefined
  const known = Object.entries(BY_HOST).find(([host]) => hostname === host || hostname.endsWith(`.${host}`))
  return known?.[1] ?? sameName(id)
}
