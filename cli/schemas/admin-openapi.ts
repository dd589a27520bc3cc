import type { z } from 'zod'
import { type AdminRoute, ROUTES } from '../../layers/admin/api/route-table.ts'
import { LISTS, ROUTE_WORDS, type RouteWords } from '../../layers/admin/api/route-words.ts'
import { Account, AccountDetail, AccountGrantMade, AccountMade } from '../../layers/admin/api/shapes/accounts.ts'
import { ApiError, Identity, Search, Table } from '../../layers/admin/api/shapes/answers.ts'
import * as bodies from '../../layers/admin/api/shapes/bodies.ts'
import { AccountAudit, Audit, AuditSummary, Event, Statement } from '../../layers/admin/api/shapes/books.ts'
import { Catalog, CatalogCheck, CatalogVersion, Route, RouteTest } from '../../layers/admin/api/shapes/catalog.ts'
import { AdminKey, Grant, GrantMade, Hold, Key, KeyDetail, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { Request, RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { Overview, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { Attempt, Pricing, UsageRecord } from '../../layers/admin/api/shapes/usage-record.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { componentSchemas, type Json, jsonContent, refTo, schemaOf, statusName } from './json-schema.ts'

const STAGE = { AdminUrl: { default: 'https://api-id.execute-api.region.amazonaws.com' } }

const ABOUT = {
  openapi: '3.1.0',
  info: {
    title: 'Waybill admin API',
    version: '1',
    description:
      'Served by every stage, for signed calls and, with `adminKeys`, for admin keys; by a local gateway, for the token in its folder and for admin keys; and by `waybill console`, which passes calls on. Amounts are decimal strings, moments ISO 8601 in UTC.',
  },
  servers: [
    { url: 'http://127.0.0.1:8787', description: 'A local gateway, for its token.' },
    { url: 'http://127.0.0.1:{port}', description: 'The console.', variables: { port: { default: '8788' } } },
    { url: '{AdminUrl}', description: 'A stage, for signed calls: its output AdminUrl.', variables: STAGE },
    { url: '{AdminUrl}/keyed', description: 'A stage, for admin keys.', variables: STAGE },
  ],
  security: [{ console: [] }, { localToken: [] }, { signed: [] }, { adminKey: [] }],
}

const SECURITY = {
  console: { type: 'apiKey', in: 'header', name: 'X-Waybill-Console' },
  localToken: { type: 'http', scheme: 'bearer', description: 'The adminToken in .waybill/local.json.' },
  signed: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'AWS Signature Version 4 for the service execute-api. IAM decides which methods and paths a caller may ask for.',
    'x-amazon-apigateway-authtype': 'awsSigv4',
  },
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An admin key, svc_admin_…, from an address on its list. Each operation needs the scope in x-scope.',
  },
}

const text = (description: string, rule: Json = {}) => ({ description, schema: { type: 'string', ...rule } })
const HEADERS = {
  'X-Request-Id': text('The name of this call, which the log has, too.', { pattern: '^adm_[0-9A-HJKMNP-TV-Z]{26}$' }),
  ETag: text('The version, in quotes.', { pattern: '^"\\d+"$' }),
  Allow: text('The methods that there are.'),
}
const NEEDED = {
  'Idempotency-Key': text('A text of your own that stays the same when you ask again: for 30 days it is done once.', {
    maxLength: 255,
  }),
  'If-Match': text('The version that you have seen, in quotes.'),
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'A field, a query or a header is missing or wrong; `param` names it.',
  401: "The console's token or the admin key is missing or wrong.",
  403: '`insufficient_scope`; `access_denied` by AWS; `origin_not_allowed` for another page; of an admin key also: another address, more credits than it may grant on the day, or `provider_change_denied` for a catalog whose providers differ from those in force.',
  404: 'There is no such thing.',
  405: 'Another method; Allow names those that there are.',
  409: '`key_revoked`, `account_closed`, `external_id_taken`, or another conflict; `needs_confirmation` for a change with warnings that was sent with `Prefer: handling=strict`.',
  412: '`stale_version`: somebody else came first. The message says who and what, ETag the version now.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  421: "Another Host than the console's own.",
  422: '`idempotency_key_reused`: the key stood for another request.',
  428: 'If-Match is missing.',
  500: 'Unexpected.',
  501: 'Not where the API is deployed: the command line does it.',
  503: 'The database did not answer: service_unavailable if this call has changed nothing, outcome_unknown if it may have; took_too_long if there was no time for an answer. Ask again with the same Idempotency-Key.',
}

/** Schemas with a name in the document; others are written inline. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  ...{ Key, KeyDetail, KeyWithSecret, Hold, Grant, GrantMade, Event, Audit, AuditSummary, Request, RequestLine },
  ...{ UsagePage, Overview, Route, RouteTest, Catalog, CatalogVersion, CatalogCheck, Search, Identity },
  ...{ Statement, AdminKey, Table, Account, AccountDetail, AccountMade, AccountGrantMade, AccountAudit },
  ...LISTS,
  ...{ UsageRecord, Pricing, Attempt },
  Error: ApiError,
  CreateKey: bodies.createKeyBody,
  UpdateKey: bodies.updateKeyBody,
  CreateAccount: bodies.createAccountBody,
  UpdateAccount: bodies.updateAccountBody,
  RotateKey: bodies.rotateBody,
  RevokeKey: bodies.revokeBody,
  GrantCredits: bodies.grantBody,
}

export function adminOpenApi(): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, words] of Object.entries(ROUTE_WORDS)) {
    const route = ROUTES[name as keyof typeof ROUTES]
    const path = `${ADMIN_ROOT}${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(name, route, words) }
  }
  const { 'X-Request-Id': requestId, ETag, Allow } = HEADERS
  const responses = Object.entries(REFUSALS).map(([status, description]) => {
    const headers = { 'X-Request-Id': requestId, ...(status === '405' && { Allow }), ...(status === '412' && { ETag }) }
    return [statusName(Number(status)), { description, headers, content: jsonContent(refTo('Error')) }]
  })
  return {
    ...ABOUT,
    paths,
    components: {
      securitySchemes: SECURITY,
      responses: Object.fromEntries(responses),
      schemas: componentSchemas(COMPONENTS),
    },
  }
}

function operationOf(operationId: string, route: AdminRoute, words: RouteWords): Json {
  const { method, path, scope, takes } = route
  const parameters = [
    ...pathParameters(path),
    ...(method === 'GET' ? queryParameters(takes) : []),
    ...(words.needs ? [{ name: words.needs, in: 'header', required: true, ...NEEDED[words.needs] }] : []),
  ]
  return {
    operationId,
    summary: words.summary,
    tags: [path.split('/')[1]],
    ...(scope !== undefined && { 'x-scope': scope }),
    ...(parameters.length > 0 && { parameters }),
    ...(method !== 'GET' && { requestBody: { required: true, content: jsonContent(schemaOf(takes, COMPONENTS)) } }),
    responses: Object.fromEntries([[route.status, answerOf(words)], ...refusalsOf(route, words)]),
  }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'version' ? 'The number of the version.' : 'The id in question.',
    schema: { type: 'string' },
  }))
}

function queryParameters({ shape }: z.ZodObject): Json[] {
  return Object.entries(shape).map(([name, rule]) => {
    const { description, ...schema } = schemaOf(rule as z.ZodType, COMPONENTS)
    return { name, in: 'query', required: !(rule as z.ZodType).safeParse(undefined).success, description, schema }
  })
}

function answerOf({ answer, types = ['application/json'] }: RouteWords): Json {
  const { 'X-Request-Id': requestId, ETag } = HEADERS
  const hasVersion = 'shape' in answer && 'version' in (answer as z.ZodObject).shape
  const lines = (type: string) =>
    types.length > 1 && type !== 'application/json' ? { type: 'string' } : schemaOf(answer, COMPONENTS)
  return {
    description: 'Done.',
    headers: { 'X-Request-Id': requestId, ...(hasVersion && { ETag }) },
    content: Object.fromEntries(types.map((type) => [type, { schema: lines(type) }])),
  }
}

function refusalsOf({ method, path, scope }: AdminRoute, { needs, refusals = [] }: RouteWords): [number, Json][] {
  const statuses = [
    ...[400, 401, 403, 405, 421, 500, 503],
    ...refusals,
    ...(path.includes('{') ? [404] : []),
    ...(method === 'GET' ? [] : [413, 415]),
    ...(method !== 'GET' && !scope?.endsWith('.read') ? [409] : []),
    ...(needs === 'If-Match' ? [412, 428] : []),
    ...(needs === 'Idempotency-Key' ? [422] : []),
  ]
  return statuses.map((status) => [status, { $ref: `#/components/responses/${statusName(status)}` }])
}
