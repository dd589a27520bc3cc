import { type Page, servePage } from '../../layers/gateway/middleware/serve-page.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'

/** The page for the owner of a key. */
const USAGE_PAGE = '/usage'

const loadPage = (): Promise<Page> => import('#usage-page').then(({ usagePage }) => usagePage())

/** Takes the calls that are for no other function: the same gates, of which `matchEndpoint` refuses. */
export function createFallback(instance: Instance) {
  const page = instance.config.hasUsagePage ? servePage(USAGE_PAGE, loadPage) : undefined
  return jsonHandler(instance, freeGates(instance, 'fallback', { page }), () => {
    throw new Error('A call that has a function of its own reached the fallback.')
  })
}
