import { apiKeyOf, type CatalogData } from '../layers/gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../layers/gateway/domain/routing/upstream-failure.ts'
import { readVariable } from '../layers/gateway/platform/config.ts'
import type { KeySources } from '../layers/gateway/providers/open-provider.ts'
import { START } from '../layers/terminal/how-to-run.ts'

/** Every program here can write a catalog, so only the file of the start decides which address gets a variable. */
export function localKeys({ providers }: CatalogData): KeySources {
  const entries = Object.values(providers)
  return {
    env: (name, baseUrl) => {
      const ofAddress = entries.filter((entry) => 'baseUrl' in entry && entry.baseUrl === baseUrl)
      if (ofAddress.some((entry) => apiKeyOf(entry) === `env:${name}`)) return readVariable(name)
      const message = `The catalog file that '${START}' loaded does not send env:${name} to ${new URL(baseUrl).origin}, so it is not sent. Restart with a file that does: WAYBILL_CATALOG=FILE ${START} (unless set, the one that comes along).`
      throw new UpstreamFailure('credential', message)
    },
    secret: async (name) => {
      const message = `secret:${name} is for a stage in AWS; on this machine there is env:NAME.`
      throw new UpstreamFailure('credential', message)
    },
  }
}
