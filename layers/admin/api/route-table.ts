import type { z } from 'zod'
import { plainLine } from '../../gateway/domain/basics/plain-text.ts'
import type { OperatorScope } from '../../gateway/domain/keys/admin-scopes.ts'
import { type Match, pathMatcher, wrongMethod } from '../../gateway/wire/basics/match-path.ts'
import { MOST_CATALOG_BYTES } from '../catalog/catalog-refusal.ts'
import { AdminError } from './admin-error.ts'
import { createAdminKeyOnce, listAdminKeysPage, revokeAdminKeyNow, rotateAdminKeyOnce } from './admin-keys.ts'
import { auditPage } from './audits.ts'
import type { Answer, Call } from './call.ts'
import { checkCatalog, getCatalog, getVersion, listVersions, putCatalog, restoreVersion } from './catalog.ts'
import { listEventsPage, listKeyEvents } from './events.ts'
import { readFields } from './fields.ts'
import { grantOnce, listGrantsPage } from './grants.ts'
import {
  createKeyOnce,
  endGraceNow,
  getKey,
  listKeysPage,
  patchKey,
  resumeKeyNow,
  revokeKeyNow,
  rotateKeyOnce,
  suspendKeyNow,
} from './keys.ts'
import { getOverview } from './overview.ts'
import { getRequest, listRequests } from './requests.ts'
import { listRoutes, testRoutesPage } from './routes.ts'
import { search } from './search.ts'
import {
  adminKeyBody,
  auditBody,
  catalogBody,
  createKeyBody,
  grantBody,
  nothing,
  putCatalogBody,
  restoreBody,
  revokeBody,
  rotateAdminKeyBody,
  rotateBody,
  routesTestBody,
  updateKeyBody,
} from './shapes/bodies.ts'
import {
  catalogQuery,
  eventsQuery,
  grantsQuery,
  keyEventsQuery,
  keysQuery,
  overviewQuery,
  pageQuery,
  requestsQuery,
  searchQuery,
  usageQuery,
  versionQuery,
} from './shapes/queries.ts'
import { listTables } from './tables.ts'
import { getUsage } from './usage.ts'
import { whoAmI } from './whoami.ts'

export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  /** Undefined for the call that every caller may make. */
  readonly scope: OperatorScope | undefined
  /** The schema of the query of a GET, or of the body of another method. */
  readonly takes: z.ZodObject
  readonly mostBytes: number | undefined
  readonly handle: (call: Call, sent: Readonly<Record<string, unknown>>) => Promise<Answer>
}

/** A handler gets the query or the body as read by the schema of its route. */
function route<Takes extends z.ZodObject>(
  methodAndPath: `${AdminRoute['method']} /${string}`,
  scope: OperatorScope | undefined,
  takes: Takes,
  handle: (call: Call, sent: z.output<Takes>) => Promise<Answer>,
  mostBytes?: number,
): AdminRoute {
  const [method, path] = methodAndPath.split(' ') as [AdminRoute['method'], string]
  return { method, path, scope, takes, mostBytes, handle: async (call, sent) => handle(call, readFields(takes, sent)) }
}

export const ADMIN_ROOT = '/admin/v1'

/** A file for people has whitespace that the stored catalog does not have. */
const CATALOG_BYTES = 2 * MOST_CATALOG_BYTES

/** By their operation ids in the document. */
export const ROUTES = {
  whoAmI: route('GET /whoami', undefined, nothing, whoAmI),
  getOverview: route('GET /overview', 'usage.read', overviewQuery, getOverview),
  search: route('GET /search', 'keys.read', searchQuery, search),
  listKeys: route('GET /keys', 'keys.read', keysQuery, listKeysPage),
  createKey: route('POST /keys', 'keys.write', createKeyBody, createKeyOnce),
  getKey: route('GET /keys/{id}', 'keys.read', nothing, getKey),
  updateKey: route('PATCH /keys/{id}', 'keys.write', updateKeyBody, patchKey),
  rotateKey: route('POST /keys/{id}/rotate', 'keys.write', rotateBody, rotateKeyOnce),
  endGrace: route('POST /keys/{id}/end-grace', 'keys.write', nothing, endGraceNow),
  suspendKey: route('POST /keys/{id}/suspend', 'keys.write', nothing, suspendKeyNow),
  resumeKey: route('POST /keys/{id}/resume', 'keys.write', nothing, resumeKeyNow),
  revokeKey: route('POST /keys/{id}/revoke', 'keys.write', revokeBody, revokeKeyNow),
  listGrants: route('GET /keys/{id}/grants', 'keys.read', grantsQuery, listGrantsPage),
  grantCredits: route('POST /keys/{id}/grants', 'credits.grant', grantBody, grantOnce),
  listKeyEvents: route('GET /keys/{id}/events', 'keys.read', keyEventsQuery, listKeyEvents),
  listEvents: route('GET /events', 'keys.read', eventsQuery, listEventsPage),
  listRequests: route('GET /requests', 'usage.read', requestsQuery, listRequests),
  getRequest: route('GET /requests/{id}', 'usage.read', nothing, getRequest),
  getUsage: route('GET /usage', 'usage.read', usageQuery, getUsage),
  audit: route('POST /audits', 'usage.read', auditBody, auditPage),
  getCatalog: route('GET /catalog', 'catalog.read', catalogQuery, getCatalog),
  putCatalog: route('PUT /catalog', 'catalog.write', putCatalogBody, putCatalog, CATALOG_BYTES),
  checkCatalog: route('POST /catalog/check', 'catalog.read', catalogBody, checkCatalog, CATALOG_BYTES),
  listCatalogVersions: route('GET /catalog/versions', 'catalog.read', pageQuery, listVersions),
  getCatalogVersion: route('GET /catalog/versions/{version}', 'catalog.read', versionQuery, getVersion),
  restoreCatalogVersion: route(
    'POST /catalog/versions/{version}/restore',
    'catalog.write',
    restoreBody,
    restoreVersion,
  ),
  listRoutes: route('GET /routes', 'catalog.read', nothing, listRoutes),
  testRoutes: route('POST /routes/test', 'catalog.write', routesTestBody, testRoutesPage),
  listTables: route('GET /tables', 'usage.read', nothing, listTables),
  listAdminKeys: route('GET /admin-keys', 'admin_keys.read', pageQuery, listAdminKeysPage),
  createAdminKey: route('POST /admin-keys', 'admin_keys.write', adminKeyBody, createAdminKeyOnce),
  rotateAdminKey: route('POST /admin-keys/{id}/rotate', 'admin_keys.write', rotateAdminKeyBody, rotateAdminKeyOnce),
  revokeAdminKey: route('POST /admin-keys/{id}/revoke', 'admin_keys.write', revokeBody, revokeAdminKeyNow),
}

export const ADMIN_ROUTES: readonly AdminRoute[] = Object.values(ROUTES)

const matchesOf = pathMatcher(ADMIN_ROUTES, { root: ADMIN_ROOT, segment: '[\\w-]{1,100}' })

export function findAdminRoute(method: string, path: string): Match<AdminRoute> {
  const matches = matchesOf(path)
  const found = matches.find(({ route }) => route.method === method)
  if (found) return found
  if (matches.length === 0) throw new AdminError('not_found', `There is nothing at ${plainLine(path, 100)}.`)
  const allowed = matches.map(({ route }) => route.method).join(', ')
  throw new AdminError('method_not_allowed', wrongMethod(method, path, allowed), { headers: { Allow: allowed } })
}
