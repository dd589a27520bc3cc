import type { ProviderEntry } from '../../layers/gateway/domain/routing/catalog.ts'

export type BillForm = 'OpenAI' | 'Anthropic' | 'OpenRouter' | 'AWS'

/** A provider that speaks a dialect of ours. */
type KnownProvider = {
  readonly type: ProviderEntry['type']
  /** The address, unless LiteLLM's `api_base` gives another. */
  readonly baseUrl?: string
  /** The domain in which every customer has a host. */
  readonly domain?: string
  /** The variable that LiteLLM reads the key from, unless `api_key` names another. */
  readonly variable?: string
  /** The variable that LiteLLM reads the address from, unless `api_base` gives one. */
  readonly addressVariable?: string
  /** The end of an address, which LiteLLM adds by itself. */
  readonly path?: string
  readonly capField?: 'max_completion_tokens'
  /** Its names in the lists of models.dev and Portkey, unless they are the one that LiteLLM has. */
  readonly lists?: readonly [string, string]
  readonly bills?: BillForm
}

const openai = (baseUrl: string, variable: string, more?: Partial<KnownProvider>): KnownProvider => {
  return { type: 'openai', baseUrl, variable, ...more }
}
const OLLAMA: KnownProvider = { type: 'openai', baseUrl: 'http://localhost:11434/v1', path: '/v1' }
const BEDROCK: KnownProvider = { type: 'bedrock', lists: ['amazon-bedrock', 'bedrock'], bills: 'AWS' }

/** The keys are LiteLLM's names, which stand before the slash in `litellm_params.model`. */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  openai: openai('https://api.openai.com/v1', 'OPENAI_API_KEY', { bills: 'OpenAI' }),
  anthropic: {
    type: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    variable: 'ANTHROPIC_API_KEY',
    path: '/v1',
    bills: 'Anthropic',
  },
  bedrock_converse: BEDROCK,
  bedrock: BEDROCK,
  azure: {
    type: 'openai',
    domain: 'openai.azure.com',
    variable: 'AZURE_API_KEY',
    addressVariable: 'AZURE_API_BASE',
    path: '/openai/v1',
    capField: 'max_completion_tokens',
    lists: ['azure', 'azure-openai'],
  },
  openrouter: openai('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', { bills: 'OpenRouter' }),
  gemini: openai('https://generativelanguage.googleapis.com/v1beta/openai', 'GEMINI_API_KEY', {
    lists: ['google', 'google'],
  }),
  mistral: openai('https://api.mistral.ai/v1', 'MISTRAL_API_KEY', { lists: ['mistral', 'mistral-ai'] }),
  xai: openai('https://api.x.ai/v1', 'XAI_API_KEY', { lists: ['xai', 'x-ai'] }),
  deepseek: openai('https://api.deepseek.com', 'DEEPSEEK_API_KEY'),
  groq: openai('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  together_ai: openai('https://api.together.xyz/v1', 'TOGETHERAI_API_KEY', { lists: ['togetherai', 'together-ai'] }),
  fireworks_ai: openai('https://api.fireworks.ai/inference/v1', 'FIREWORKS_AI_API_KEY', {
    lists: ['fireworks-ai', 'fireworks-ai'],
  }),
  deepinfra: openai('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  cerebras: openai('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  perplexity: openai('https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY', { lists: ['perplexity', 'perplexity-ai'] }),
  ollama: OLLAMA,
  ollama_chat: OLLAMA,
  hosted_vllm: { type: 'openai', addressVariable: 'HOSTED_VLLM_API_BASE' },
  openai_like: { type: 'openai' },
  litellm_proxy: { type: 'openai', addressVariable: 'LITELLM_PROXY_API_BASE' },
}

/** The known providers of an entry of the catalog, by their hosts; Bedrock has two names. */
export function knownProvidersOf(entry: ProviderEntry): [name: string, KnownProvider][] {
  const hostname = 'baseUrl' in entry && URL.canParse(entry.baseUrl) ? new URL(entry.baseUrl).hostname : ''
  return Object.entries(KNOWN_PROVIDERS).filter(([, { type, baseUrl, domain }]) => {
    if (entry.region) return type === 'bedrock'
    const host = domain ?? (baseUrl?.startsWith('https:') && new URL(baseUrl).hostname)
    return host && (hostname === host || hostname.endsWith(`.${host}`))
  })
}

export type ListNames = NonNullable<ReturnType<typeof listNamesOf>>

/** The names of a provider in public lists of prices: of one that is not known, its own. A private server is in no list. */
export function listNamesOf(id: string, entry: ProviderEntry) {
  if (entry.type !== 'bedrock' && !/^https:/i.test(entry.baseUrl)) return undefined
  const known = knownProvidersOf(entry)
  const [name, { lists: [modelsDev, portkey] = [name, name] }] = known[0] ?? [id, {}]
  return { modelsDev, portkey, litellm: known.length > 0 ? known.map(([one]) => one) : [id], region: entry.region }
}
