import type { Catalog, ProviderEntry } from '../domain/routing/catalog.ts'
import { UpstreamFailure } from '../domain/routing/upstream-failure.ts'
import { openaiProvider, type ReadEmbedding } from './openai/openai-provider.ts'
import type { Authorize, Provider } from './provider.ts'

export type OpenProvider = (catalog: Catalog, id: string) => Provider

/** The sources of providers' keys: `env:NAME` and `secret:NAME`. */
export type KeySources = {
  // Both throw an UpstreamFailure if the provider at this address may not have the key.
  readonly env: (name: string, baseUrl: string) => string | undefined
  readonly secret: (name: string, baseUrl: string) => Promise<string | undefined>
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
    const authorize = authorizer(id, entry, sources)
    if (entry.type === 'anthropic') {
      return lazyProvider(id, async () => (await dialects()).anthropicProvider(id, entry, authorize), ['countTokens'])
    }
    if (entry.type === 'bedrock') {
      return lazyProvider(id, async () => (await dialects()).bedrockProvider(id, entry), ['embed'])
    }
    if (entry.contract !== 'responses') return openaiProvider(id, entry, authorize, readEmbedding)
    return lazyProvider(id, async () => (await dialects()).responsesProvider(id, entry, authorize), ['countTokens'])
  }
}

const dialects = () => import('#dialects')
const readEmbedding: ReadEmbedding = async (...came) => (await dialects()).readEmbedding(...came)

/** A provider whose dialect is loaded with the first call to it, and its verbs besides chat. */
function lazyProvider(
  id: string,
  open: () => Promise<Provider>,
  verbs: readonly ('embed' | 'countTokens')[] = [],
): Provider {
  let provider: Provider | undefined
  const opened = async () => {
    provider ??= await open()
    return provider
  }
  const call =
    (verb: 'embed' | 'countTokens') =>
    async (asked: never): Promise<never> =>
      (await opened())[verb]?.(asked) as never
  return {
    id,
    chat: (asked) => (provider ? provider.chat(asked) : opened().then((it) => it.chat(asked))),
    ...Object.fromEntries(verbs.map((verb) => [verb, call(verb)])),
  }
}

function authorizer(id: string, entry: ProviderEntry, { env, secret }: KeySources): Authorize | undefined {
  if (entry.type === 'bedrock') return undefined
  if (entry.auth) return async (request) => (await dialects()).signAsRole(id, entry, request)
  if (entry.apiKey === undefined) return undefined
  const { apiKey: reference, baseUrl } = entry
  const name = reference.slice(reference.indexOf(':') + 1)
  const isVariable = reference.startsWith('env:')
  return async ({ keyHeader }) => {
    let key: string | undefined
    try {
      key = isVariable ? env(name, baseUrl) : await secret(name, baseUrl)
    } catch (cause) {
      if (cause instanceof UpstreamFailure) throw cause
      const why = (cause as Partial<Error> | undefined)?.name ?? 'unknown error'
      const message = `The key of provider '${id}' (${reference}) could not be read: ${why}.`
      throw new UpstreamFailure('credential', message, {}, { cause })
    }
    if (!key) throw new UpstreamFailure('credential', `The key of provider '${id}' (${reference}) does not exist.`)
    return { headers: keyHeader(key), secret: key }
  }
}
