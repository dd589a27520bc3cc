import { keyFor, parseProviderSecret } from '../../layers/gateway/domain/routing/provider-secret.ts'
import { UpstreamFailure } from '../../layers/gateway/domain/routing/upstream-failure.ts'
import { secretName } from '../../layers/gateway/names.ts'
import { secretFetcher } from '../../layers/gateway/providers/api-keys/fetch-secret.ts'
import type { KeySources } from '../../layers/gateway/providers/open-provider.ts'

/** The providers' keys of a stage, each read when it is asked for: a test of a route is to see a secret as it is now. */
export function stageKeys(stage: string): KeySources {
  const fetchSecret = secretFetcher()
  return {
    env: (name) => {
      throw new UpstreamFailure(
        'credential',
        `env:${name} is for a gateway on one machine; a stage has its keys in secret:NAME.`,
      )
    },
    async secret(name, baseUrl) {
      const fullName = secretName(stage, name)
      const text = await fetchSecret(fullName)
      return text === undefined ? undefined : keyFor(fullName, parseProviderSecret(text), baseUrl)
    },
  }
}
