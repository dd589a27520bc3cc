import { apiKeyOf, type CatalogData } from '../layers/gateway/domain/routing/catalog.ts'
import { UpstreamFailure } from '../layers/gateway/domain/routing/upstream-failure.ts'
import { readVariable } from '../layers/gateway/platform/config.ts'
import type { KeySources } from '../layers/gateway/providers/open-provider.ts'
import { START } from '../layers/terminal/how-to-run.ts'

/** An `env:NAME` and the only address that its value may be sent to. */
export type NamedVariable = { readonly apiKey: string; readonly baseUrl: string }

export function namedVariables({ providers }: CatalogData): NamedVariable[] {
  return Object.values(providers).flatMap((entry) => {
    const apiKey = apiKeyOf(entry)
    return 'baseUrl' in entry && apiKey?.startsWith('env:') ? [{ apiKey, baseUrl: entry.baseUrl }] : []
  })
}

/** Every program here can write a catalog, so only the file of the start decides which address gets a variable. */
export function localKeys(named: readonly NamedVariable[]): KeySources {
  return {
    env: (name, baseUrl) => {
      const isNamed = named.some((one) => one.apiKey === `env:${name}` && one.baseUrl === baseUrl)
      if (isNamed) return readVariable(name)
      throw new UpstreamFailure(
        'credential',
        `The catalog file that '${START}' loaded does not send env:${name} to ${new URL(baseUrl).origin}, so it is ` +
          `not sent. Restart with a file that does: WAYBILL_CATALOG=FILE ${START} (unless set, the one that comes along).`,
      )
    },
    secret: async (name) => {
      throw new UpstreamFailure(
        'credential',
        `secret:${name} is for a stage in AWS; on this machine there is env:NAME.`,
      )
    },
  }
}
