import type { ProviderEntry } from '../../layers/gateway/domain/catalog.ts'

/** A provider of LiteLLM that speaks a dialect of ours. */
type Upstream = {
  readonly type: ProviderEntry['type']
  /** Unless `api_base` gives another. */
  readonly baseUrl?: string
  /** The variable that LiteLLM reads the key from, unless `api_key` names another. */
  readonly variable?: string
  /** The variable that LiteLLM reads the address from, unless `api_base` gives one. */
  readonly addressVariable?: string
  /** The end of an address, which LiteLLM adds by itself. */
  readonly path?: string
  readonly capField?: 'max_completion_tokens'
}

const openai = (baseUrl: string, variable: string): Upstream => ({ type: 'openai', baseUrl, variable })

/** By the word before the slash in `litellm_params.model`. */
export const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  openai: openai('https://api.openai.com/v1', 'OPENAI_API_KEY'),
  anthropic: {
    type: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    variable: 'ANTHROPIC_API_KEY',
    path: '/v1',
  },
  bedrock: { type: 'bedrock' },
  bedrock_converse: { type: 'bedrock' },
  azure: {
    type: 'openai',
    variable: 'AZURE_API_KEY',
    addressVariable: 'AZURE_API_BASE',
    path: '/openai/v1',
    capField: 'max_completion_tokens',
  },
  openrouter: openai('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  gemini: openai('https://generativelanguage.googleapis.com/v1beta/openai', 'GEMINI_API_KEY'),
  mistral: openai('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  xai: openai('https://api.x.ai/v1', 'XAI_API_KEY'),
  deepseek: openai('https://api.deepseek.com', 'DEEPSEEK_API_KEY'),
  groq: openai('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  together_ai: openai('https://api.together.xyz/v1', 'TOGETHERAI_API_KEY'),
  fireworks_ai: openai('https://api.fireworks.ai/inference/v1', 'FIREWORKS_AI_API_KEY'),
  deepinfra: openai('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  cerebras: openai('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  perplexity: openai('https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'),
  ollama: { type: 'openai', baseUrl: 'http://localhost:11434/v1', path: '/v1' },
  ollama_chat: { type: 'openai', baseUrl: 'http://localhost:11434/v1', path: '/v1' },
  hosted_vllm: { type: 'openai', addressVariable: 'HOSTED_VLLM_API_BASE' },
  openai_like: { type: 'openai' },
  litellm_proxy: { type: 'openai', addressVariable: 'LITELLM_PROXY_API_BASE' },
}

/** The provider and its model in `openai/gpt-4o`; LiteLLM knows the famous ones without the first word. */
export function splitModel(model: string): { readonly prefix: string; readonly name: string } | undefined {
  const slash = model.indexOf('/')
  if (slash > 0 && Object.hasOwn(UPSTREAMS, model.slice(0, slash))) {
    return { prefix: model.slice(0, slash), name: model.slice(slash + 1).replace(/^(converse|invoke)\//, '') }
  }
  if (slash >= 0) return undefined
  if (/^((us|eu|apac|jp|au|global)\.)?(ai21|amazon|anthropic|cohere|deepseek|meta|mistral)\./.test(model))
    return { prefix: 'bedrock', name: model }
  if (/^(gpt-|chatgpt-|o\d|text-embedding-)/.test(model)) return { prefix: 'openai', name: model }
  return /^claude-/.test(model) ? { prefix: 'anthropic', name: model } : undefined
}
