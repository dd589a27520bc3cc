import type { z } from 'zod'
import { ADMIN_ROOT, type AdminRoute, ROUTES } from '../../layers/admin/api/route-table.ts'
import { LISTS, ROUTE_WORDS, type RouteWords } from '../../layers/admin/api/route-words.ts'
import { ApiError, Identity, Search, Table } from '../../layers/admin/api/shapes/answers.ts'
import * as bodies from '../../layers/admin/api/shapes/bodies.ts'
import { Audit, AuditSummary, Event } from '../../layers/admin/api/shapes/books.ts'
import { Catalog, CatalogCheck, CatalogVersion, Route, RouteTest } from '../../layers/admin/api/shapes/catalog.ts'
import { AdminKey, Grant, GrantMade, Hold, Key, KeyDetail, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { Request, RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { Overview, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { Attempt, Pricing, UsageRecord } from '../../layers/admin/api/shapes/usage-record.ts'
import { ABOUT, HEADERS, NEEDED, REFUSALS } from './admin-openapi-words.ts'
import { componentSchemas, type Json, jsonContent, SCHEMAS, schemaOf } from './openapi/json-schema.ts'

/** Schemas with a name in the document; others are written inline. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  ...{ Key, KeyDetail, KeyWithSecret, Hold, Grant, GrantMade, Event, Audit, AuditSummary, Request, RequestLine },
  ...{ UsagePage, Overview, Route, RouteTest, Catalog, CatalogVersion, CatalogCheck, Search, Identity },
  ...{ AdminKey, Table },
  ...LISTS,
  ...{ UsageRecord, Pricing, Attempt },
  Error: ApiError,
  CreateKey: bodies.createKeyBody,
  UpdateKey: bodies.updateKeyBody,
  RotateKey: bodies.rotateBody,
  RevokeKey: bodies.revokeBody,
  GrantCredits: bodies.grantBody,
}

/** The OpenAPI document of the admin API, made from its routes and schemas. */
export function adminOpenApi(): Json {
  const names = Object.keys(ROUTES) as (keyof typeof ROUTES)[]
  const paths: Record<string, Record<string, Json>> = {}
  for (const name of names) {
    const { method, path } = ROUTES[name]
    const methods = paths[`${ADMIN_ROOT}${path}`] ?? {}
    paths[`${ADMIN_ROOT}${path}`] = methods
    methods[method.toLowerCase()] = operationOf(name, ROUTES[name], ROUTE_WORDS[name])
  }
  const { securitySchemes, ...about } = ABOUT
  return {
    ...about,
    paths,
    components: { securitySchemes, responses: refusalAnswers(), schemas: componentSchemas(COMPONENTS) },
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

const ALWAYS = [400, 401, 403, 405, 421, 500, 503]

function refusalsOf({ method, path }: AdminRoute, { needs, refusals = [] }: RouteWords): [number, Json][] {
  const statuses = [
    ...ALWAYS,
    ...refusals,
    ...(path.includes('{') ? [404] : []),
    ...(method === 'GET' ? [] : [413, 415]),
    ...(needs === 'If-Match' ? [409, 412, 428] : []),
    ...(needs === 'Idempotency-Key' ? [422] : []),
  ]
  return statuses.map((status) => [status, { $ref: `#/components/responses/${REFUSALS[status]?.name}` }])
}

function refusalAnswers(): Json {
  const answers = Object.values(REFUSALS).map(({ name, description, header }) => [
    name,
    {
      description,
      headers: { 'X-Request-Id': HEADERS['X-Request-Id'], ...(header && { [header]: HEADERS[header] }) },
      content: jsonContent({ $ref: `${SCHEMAS}Error` }),
    },
  ])
  return Object.fromEntries(answers)
}
