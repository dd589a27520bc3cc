import type { Catalog, ProviderEntry } from '../domain/catalog.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { anthropicProvider } from './anthropic/anthropic-provider.ts'
import { bedrockProvider } from './bedrock/bedrock-provider.ts'
import { openaiProvider } from './openai/openai-provider.ts'
import type { Provider } from './provider.ts'
import { responsesProvider } from './responses/responses-provider.ts'

export type OpenProvider = (catalog: Catalog, id: string) => Provider

/** The places of providers' keys: `env:NAME` and `secret:NAME`. */
export type KeySources = {
  /** A variable's value for the provider at this address. Throws an UpstreamFailure where that may not have it. */
  readonly env: (name: string, baseUrl: string) => string | undefined
  readonly secret: (name: string) => Promise<string | undefined>
}

/** Opens a provider in its dialect. The catalog's types and its validator name the same dialects. */
export function openProvider(sources: KeySources): OpenProvider {
  const opened = new WeakMap<ProviderEntry, Provider>()
  return (catalog, id) => {
    const entry = catalog.providers.get(id)
    if (!entry) throw new UpstreamFailure('connect', `The catalog has no provider '${id}'.`)
    const provider = opened.get(entry) ?? open(id, entry)
    opened.set(entry, provider)
    return provider
  }

  function open(id: string, entry: ProviderEntry): Provider {
    const apiKey = () => readApiKey(id, entry, sources)
    switch (entry.type) {
      case 'openai':
        return entry.contract === 'responses' ? responsesProvider(id, entry, apiKey) : openaiProvider(id, entry, apiKey)
      case 'anthropic':
        return anthropicProvider(id, entry, apiKey)
      case 'bedrock':
        return bedrockProvider(id, entry)
    }
  }
}

async function readApiKey(id: string, entry: ProviderEntry, sources: KeySources) {
  if (entry.type === 'bedrock' || entry.apiKey === undefined) return undefined
  const { apiKey: reference, baseUrl } = entry
  const key = await lookUp(reference, baseUrl, sources).catch((cause) => {
    if (cause instanceof UpstreamFailure) throw cause
    const message = `The key of provider '${id}' (${reference}) could not be read: ${cause?.name ?? 'unknown error'}.`
    throw new UpstreamFailure('credential', message, {}, { cause })
  })
  if (!key) throw new UpstreamFailure('credential', `The key of provider '${id}' (${reference}) does not exist.`)
  return key
}

async function lookUp(reference: string, baseUrl: string, { env, secret }: KeySources): Promise<string | undefined> {
  const name = reference.slice(reference.indexOf(':') + 1)
  return reference.startsWith('env:') ? env(name, baseUrl) : secret(name)
}
