import type { Catalog } from '../domain/catalog.ts'
import { UpstreamFailure } from '../domain/upstream-failure.ts'
import { openaiProvider } from './openai.ts'
import type { Provider } from './provider.ts'

export type OpenProvider = (catalog: Catalog, id: string) => Provider

type ReadVariable = (name: string) => string | undefined

/** The one place that knows which dialects there are. */
export function openProvider(readVariable: ReadVariable): OpenProvider {
  return (catalog, id) => {
    const entry = catalog.providers.get(id)
    if (!entry) throw new UpstreamFailure('connect', `The catalog has no provider '${id}'.`)
    return openaiProvider(id, entry, () => readApiKey(id, entry.apiKey, readVariable))
  }
}

async function readApiKey(id: string, reference: string | undefined, readVariable: ReadVariable) {
  if (reference === undefined) return undefined
  const name = reference.slice(reference.indexOf(':') + 1)
  const key = reference.startsWith('env:') ? readVariable(name) : undefined
  if (!key) throw new UpstreamFailure('credential', `The key of provider '${id}' (${reference}) is not available.`)
  return key
}
