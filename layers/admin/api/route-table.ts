import type { AdminScope } from '../../gateway/domain/admin-key.ts'
import { plainLine } from '../../gateway/domain/plain-text.ts'
import { MOST_CATALOG_BYTES } from '../catalog/catalog-refusal.ts'
import { AdminError } from './admin-error.ts'
import { auditNow } from './audits.ts'
import type { Answer, Call } from './call.ts'
import { checkCatalog, getCatalog, getVersion, listVersions, putCatalog, restoreVersion } from './catalog.ts'
import { listEventsPage, listKeyEvents } from './events.ts'
import { grantOnce, listGrantsPage } from './grants.ts'
import { createKeyOnce, endGraceNow, getKey, listKeysPage, patchKey, revokeKeyNow, rotateKeyOnce } from './keys.ts'
import { getOverview } from './overview.ts'
import { getRequest, listRequests } from './requests.ts'
import { listRoutes, testRoutesNow } from './routes.ts'
import { search } from './search.ts'
import { getUsage } from './usage.ts'
import { whoAmI } from './whoami.ts'

export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  /** None for what everybody may ask who may ask anything. */
  readonly scope?: AdminScope
  /** What the query may ask for. */
  readonly query?: readonly string[]
  readonly mostBytes?: number
  readonly handle: (call: Call) => Promise<Answer>
}

export const ADMIN_ROOT = '/admin/v1'

const PAGE = ['after', 'limit']
const EVENTS = ['what', 'by', 'from', 'to', ...PAGE]
const REQUESTS = ['key_id', 'from', 'to', 'outcome', 'model', ...PAGE]
const USAGE = ['bucket', 'group_by', 'from', 'to', 'key_id']
/** A file for people has signs between its fields that the stored catalog has not. */
const catalogBytes = { mostBytes: 2 * MOST_CATALOG_BYTES }

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: '/whoami', handle: whoAmI },
  { method: 'GET', path: '/overview', scope: 'usage.read', handle: getOverview },
  { method: 'GET', path: '/search', scope: 'keys.read', query: ['q'], handle: search },

  { method: 'GET', path: '/keys', scope: 'keys.read', query: ['external_id', 'status', ...PAGE], handle: listKeysPage },
  { method: 'POST', path: '/keys', scope: 'keys.write', handle: createKeyOnce },
  { method: 'GET', path: '/keys/{id}', scope: 'keys.read', handle: getKey },
  { method: 'PATCH', path: '/keys/{id}', scope: 'keys.write', handle: patchKey },
  { method: 'POST', path: '/keys/{id}/rotate', scope: 'keys.write', handle: rotateKeyOnce },
  { method: 'POST', path: '/keys/{id}/end-grace', scope: 'keys.write', handle: endGraceNow },
  { method: 'POST', path: '/keys/{id}/revoke', scope: 'keys.write', handle: revokeKeyNow },
  { method: 'GET', path: '/keys/{id}/grants', scope: 'keys.read', query: PAGE, handle: listGrantsPage },
  { method: 'POST', path: '/keys/{id}/grants', scope: 'credits.grant', handle: grantOnce },
  { method: 'GET', path: '/keys/{id}/events', scope: 'keys.read', query: EVENTS, handle: listKeyEvents },
  { method: 'GET', path: '/events', scope: 'keys.read', query: ['key_id', ...EVENTS], handle: listEventsPage },

  { method: 'GET', path: '/requests', scope: 'usage.read', query: REQUESTS, handle: listRequests },
  { method: 'GET', path: '/requests/{id}', scope: 'usage.read', handle: getRequest },
  { method: 'GET', path: '/usage', scope: 'usage.read', query: USAGE, handle: getUsage },
  { method: 'POST', path: '/audits', scope: 'usage.read', handle: auditNow },

  { method: 'GET', path: '/catalog', scope: 'catalog.read', query: ['at'], handle: getCatalog },
  { method: 'PUT', path: '/catalog', scope: 'catalog.write', ...catalogBytes, handle: putCatalog },
  { method: 'POST', path: '/catalog/check', scope: 'catalog.read', ...catalogBytes, handle: checkCatalog },
  { method: 'GET', path: '/catalog/versions', scope: 'catalog.read', query: PAGE, handle: listVersions },
  { method: 'GET', path: '/catalog/versions/{version}', scope: 'catalog.read', query: ['against'], handle: getVersion },
  { method: 'POST', path: '/catalog/versions/{version}/restore', scope: 'catalog.write', handle: restoreVersion },
  { method: 'GET', path: '/routes', scope: 'catalog.read', handle: listRoutes },
  { method: 'POST', path: '/routes/test', scope: 'catalog.write', handle: testRoutesNow },
]

const PATTERNS = new Map(
  ADMIN_ROUTES.map((route) => [
    route,
    new RegExp(`^${ADMIN_ROOT}${route.path.replace(/\{(\w+)\}/g, '(?<$1>[\\w-]{1,100})')}$`),
  ]),
)

const MOST_SHOWN = 100

type Found = { readonly route: AdminRoute; readonly parameters: Readonly<Record<string, string>> }

export function findAdminRoute(method: string, path: string): Found {
  const matches = ADMIN_ROUTES.flatMap((route) => {
    const match = PATTERNS.get(route)?.exec(path)
    return match ? [{ route, parameters: { ...match.groups } }] : []
  })
  const found = matches.find(({ route }) => route.method === method)
  if (found) return found
  if (matches.length === 0) throw new AdminError('not_found', `There is nothing at ${plainLine(path, MOST_SHOWN)}.`)
  const allowed = matches.map(({ route }) => route.method).join(', ')
  throw new AdminError(
    'method_not_allowed',
    `${plainLine(path, MOST_SHOWN)} takes ${allowed}, not ${plainLine(method, MOST_SHOWN)}.`,
    {
      headers: { Allow: allowed },
    },
  )
}
