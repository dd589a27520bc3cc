import type { ProviderEntry } from '../../layers/gateway/domain/routing/catalog.ts'
import { knownProvidersOf } from '../reading/known-providers.ts'

/** The names that public lists have for a provider. */
export type ListNames = {
  readonly modelsDev: string
  readonly litellm: readonly string[]
  readonly portkey: string
  /** Of Bedrock, whose prices depend on it. */
  readonly region?: string | undefined
}

/** A server of one's own is in no list; any other host that is not known may have its name in the catalog from one. */
export function listNamesOf(id: string, entry: ProviderEntry): ListNames | undefined {
  if (entry.type !== 'bedrock' && !/^https:/i.test(entry.baseUrl)) return undefined
  const known = knownProvidersOf(entry)
  const [name, { lists: [modelsDev, portkey] = [name, name] }] = known[0] ?? [id, {}]
  const region = entry.type === 'bedrock' ? entry.region : undefined
  return { modelsDev, portkey, litellm: known.length > 0 ? known.map(([one]) => one) : [id], region }
}
