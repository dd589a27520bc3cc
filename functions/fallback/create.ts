import { type Page, servePages } from '../../layers/gateway/middleware/serve-pages.ts'
import { freeGates } from '../gates.ts'
import type { Instance } from '../instance.ts'
import { jsonHandler } from '../json-handler.ts'
import { PUBLIC_PAGES } from './public-pages.ts'

const loadUsagePage = (): Promise<Page> => import('#usage-page').then(({ usagePage }) => usagePage())

/** Takes the calls that are for no other function: the same gates, of which `matchEndpoint` refuses. */
export function createFallback(instance: Instance) {
  const page = servePages({ ...PUBLIC_PAGES, ...(instance.config.hasUsagePage && { '/usage': loadUsagePage }) })
  return jsonHandler(instance, freeGates(instance, 'fallback', { page }), () => {
    throw new Error('A call that has a function of its own reached the fallback.')
  })
}
