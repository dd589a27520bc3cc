import type { z } from 'zod'
import { plainLine } from '../../gateway/domain/basics/plain-text.ts'
import type { OperatorScope } from '../../gateway/domain/keys/admin-scopes.ts'
import { ADMIN_ROOT } from '../../gateway/endpoints.ts'
import { type Match, pathMatcher, wrongMethod } from '../../gateway/wire/basics/match-path.ts'
import { MOST_CATALOG_BYTES } from '../catalog/catalog-refusal.ts'
import * as accounts from './accounts.ts'
import { AdminError } from './admin-error.ts'
import * as adminKeys from './admin-keys.ts'
import { auditPage } from './audits.ts'
import type { Call, Lines } from './call.ts'
import * as catalog from './catalog.ts'
import * as events from './events.ts'
import { readFields } from './fields.ts'
import * as grants from './grants.ts'
import * as keys from './keys.ts'
import { getOverview } from './overview.ts'
import * as plans from './plans.ts'
import * as requests from './requests.ts'
import * as routes from './routes.ts'
import { search } from './search.ts'
import * as bodies from './shapes/bodies.ts'
import { nothing } from './shapes/bodies.ts'
import * as queries from './shapes/queries.ts'
import { listTables, whoAmI } from './stage.ts'
import * as statements from './statements.ts'
import { getUsage, listFocus } from './usage.ts'

export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  /** Undefined for the call that every caller may make. */
  readonly scope: OperatorScope | undefined
  /** The schema of the query of a GET, or of the body of another method. */
  readonly takes: z.ZodObject
  readonly status: 200 | 201
  readonly mostBytes: number | undefined
  /** The body of the answer. The version of what it is about is in ETag, too. */
  readonly handle: (call: Call, sent: Readonly<Record<string, unknown>>) => Promise<object | Lines>
}

function route<Takes extends z.ZodObject>(
  methodAndPath: `${AdminRoute['method']} /${string}`,
  scope: OperatorScope | undefined,
  takes: Takes,
  handle: (call: Call, sent: z.output<Takes>) => Promise<object | Lines>,
  { status = 200, mostBytes }: Partial<Pick<AdminRoute, 'status' | 'mostBytes'>> = {},
): AdminRoute {
  const [method, path] = methodAndPath.split(' ') as [AdminRoute['method'], string]
  const read: AdminRoute['handle'] = (call, sent) => handle(call, readFields(takes, sent))
  return { method, path, scope, takes, status, mostBytes, handle: read }
}

const MADE = { status: 201 } as const
/** A file for people has whitespace that the stored catalog does not have. */
const CATALOG = { mostBytes: 2 * MOST_CATALOG_BYTES }

/** The names are the operation ids in the document. */
export const ROUTES = {
  whoAmI: route('GET /whoami', undefined, nothing, whoAmI),
  getOverview: route('GET /overview', 'usage.read', queries.overviewQuery, getOverview),
  search: route('GET /search', 'keys.read', queries.searchQuery, search),
  listKeys: route('GET /keys', 'keys.read', queries.keysQuery, keys.list),
  createKey: route('POST /keys', 'keys.write', bodies.createKeyBody, keys.create, MADE),
  getKey: route('GET /keys/{id}', 'keys.read', nothing, keys.get),
  updateKey: route('PATCH /keys/{id}', 'keys.write', bodies.updateKeyBody, keys.update),
  rotateKey: route('POST /keys/{id}/rotate', 'keys.write', bodies.rotateBody, keys.rotate),
  endGrace: route('POST /keys/{id}/end-grace', 'keys.write', nothing, keys.endGrace),
  suspendKey: route('POST /keys/{id}/suspend', 'keys.write', nothing, keys.suspend),
  resumeKey: route('POST /keys/{id}/resume', 'keys.write', nothing, keys.resume),
  revokeKey: route('POST /keys/{id}/revoke', 'keys.write', bodies.revokeBody, keys.revoke),
  adoptKey: route('POST /keys/{id}/adopt', 'keys.write', bodies.adoptBody, keys.adopt),
  listGrants: route('GET /keys/{id}/grants', 'keys.read', queries.grantsQuery, grants.list),
  grantCredits: route('POST /keys/{id}/grants', 'credits.grant', bodies.grantBody, grants.make, MADE),
  getKeyStatement: route('GET /keys/{id}/statements/{month}', 'usage.read', nothing, statements.ofKey),
  listKeyEvents: route('GET /keys/{id}/events', 'keys.read', queries.keyEventsQuery, events.listOfKey),
  listAccounts: route('GET /accounts', 'keys.read', queries.accountsQuery, accounts.list),
  createAccount: route('POST /accounts', 'keys.write', bodies.createAccountBody, accounts.create, MADE),
  getAccount: route('GET /accounts/{id}', 'keys.read', nothing, accounts.get),
  updateAccount: route('PATCH /accounts/{id}', 'keys.write', bodies.updateAccountBody, accounts.update),
  suspendAccount: route('POST /accounts/{id}/suspend', 'keys.write', nothing, accounts.suspend),
  resumeAccount: route('POST /accounts/{id}/resume', 'keys.write', nothing, accounts.resume),
  closeAccount: route('POST /accounts/{id}/close', 'keys.write', bodies.revokeBody, accounts.close),
  listAccountGrants: route('GET /accounts/{id}/grants', 'keys.read', queries.grantsQuery, accounts.listGrants),
  grantToAccount: route('POST /accounts/{id}/grants', 'credits.grant', bodies.grantBody, accounts.grant, MADE),
  getAccountStatement: route('GET /accounts/{id}/statements/{month}', 'usage.read', nothing, statements.ofAccount),
  listAccountEvents: route('GET /accounts/{id}/events', 'keys.read', queries.keyEventsQuery, events.listOfAccount),
  listEvents: route('GET /events', 'keys.read', queries.eventsQuery, events.list),
  listNotices: route('GET /notices', 'keys.read', queries.pageQuery, events.listNotices),
  listRequests: route('GET /requests', 'usage.read', queries.requestsQuery, requests.list),
  getRequest: route('GET /requests/{id}', 'usage.read', nothing, requests.get),
  getUsage: route('GET /usage', 'usage.read', queries.usageQuery, getUsage),
  listFocus: route('GET /focus', 'usage.read', queries.focusQuery, listFocus),
  audit: route('POST /audits', 'usage.read', bodies.auditBody, auditPage),
  getCatalog: route('GET /catalog', 'catalog.read', queries.catalogQuery, catalog.get),
  putCatalog: route('PUT /catalog', 'catalog.write', bodies.putCatalogBody, catalog.put, CATALOG),
  checkCatalog: route('POST /catalog/check', 'catalog.read', bodies.catalogBody, catalog.check, CATALOG),
  listCatalogVersions: route('GET /catalog/versions', 'catalog.read', queries.pageQuery, catalog.listVersions),
  getCatalogVersion: route('GET /catalog/versions/{version}', 'catalog.read', queries.versionQuery, catalog.getVersion),
  restoreCatalogVersion: route(
    'POST /catalog/versions/{version}/restore',
    'catalog.write',
    bodies.restoreBody,
    catalog.restoreVersion,
  ),
  listPlans: route('GET /plans', 'catalog.read', nothing, plans.list),
  createPlan: route('POST /plans', 'catalog.write', bodies.createPlanBody, plans.create, { ...MADE, ...CATALOG }),
  getPlan: route('GET /plans/{name}', 'catalog.read', nothing, plans.get),
  updatePlan: route('PATCH /plans/{name}', 'catalog.write', bodies.updatePlanBody, plans.update, CATALOG),
  listRoutes: route('GET /routes', 'catalog.read', nothing, routes.list),
  testRoutes: route('POST /routes/test', 'catalog.write', bodies.routesTestBody, routes.test),
  listTables: route('GET /tables', 'usage.read', nothing, listTables),
  listAdminKeys: route('GET /admin-keys', 'admin_keys.read', queries.pageQuery, adminKeys.list),
  createAdminKey: route('POST /admin-keys', 'admin_keys.write', bodies.adminKeyBody, adminKeys.create, MADE),
  rotateAdminKey: route('POST /admin-keys/{id}/rotate', 'admin_keys.write', bodies.secretBody, adminKeys.rotate),
  revokeAdminKey: route('POST /admin-keys/{id}/revoke', 'admin_keys.write', bodies.revokeBody, adminKeys.revoke),
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
