import { secretName } from '../../layers/gateway/contract.ts'
import { keyFor, parseProviderSecret } from '../../layers/gateway/domain/provider-secret.ts'
import { secretFetcher } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import type { KeySources } from '../../layers/gateway/providers/open-provider.ts'
import { type SigningClient, signInOf } from '../connect/caller-identity.ts'

/** The providers' keys of a stage, read with the operator's own rights. */
export function readStageKey(stage: string, client: SigningClient): KeySources['secret'] {
  const fetchSecret = secretFetcher(signInOf(client))
  return async (name, baseUrl) => {
    const fullName = secretName(stage, name)
    const text = await fetchSecret(fullName)
    return text === undefined ? undefined : keyFor(fullName, parseProviderSecret(text), baseUrl)
  }
}
