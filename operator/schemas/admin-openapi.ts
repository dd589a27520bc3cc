import { z } from 'zod'
import { ADMIN_ROOT, type AdminRoute, ROUTES } from '../../layers/admin/api/route-table.ts'
import { LISTS, ROUTE_WORDS, type RouteWords } from '../../layers/admin/api/route-words.ts'
import { ApiError, Identity, Search } from '../../layers/admin/api/shapes/answers.ts'
import * as bodies from '../../layers/admin/api/shapes/bodies.ts'
import { Audit, AuditSummary, Event } from '../../layers/admin/api/shapes/books.ts'
import { Catalog, CatalogCheck, CatalogVersion, Route, RouteTest } from '../../layers/admin/api/shapes/catalog.ts'
import { Grant, GrantMade, Hold, Key, KeyDetail, KeyWithSecret } from '../../layers/admin/api/shapes/keys.ts'
import { Request, RequestLine } from '../../layers/admin/api/shapes/requests.ts'
import { Overview, UsagePage } from '../../layers/admin/api/shapes/usage.ts'
import { Attempt, Pricing, UsageRecord } from '../../layers/admin/api/shapes/usage-record.ts'
import type { JsonObject } from '../../layers/gateway/domain/json-object.ts'
import { ABOUT, HEADERS, NEEDED, REFUSALS } from './admin-openapi-words.ts'

/** Schemas that the document has by a name; others stand where they are used. */
const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  ...{ Key, KeyDetail, KeyWithSecret, Hold, Grant, GrantMade, Event, Audit, AuditSummary, Request, RequestLine },
  ...{ UsagePage, Overview, Route, RouteTest, Catalog, CatalogVersion, CatalogCheck, Search, Identity },
  ...LISTS,
  ...{ UsageRecord, Pricing, Attempt },
  Error: ApiError,
  CreateKey: bodies.createKeyBody,
  UpdateKey: bodies.updateKeyBody,
  RotateKey: bodies.rotateBody,
  RevokeKey: bodies.revokeBody,
  GrantCredits: bodies.grantBody,
}
const SCHEMAS = '#/components/schemas/'

/** The OpenAPI document of the admin API, made of its routes and schemas. */
export function adminOpenApi(): JsonObject {
  const names = Object.keys(ROUTES) as (keyof typeof ROUTES)[]
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const name of names) {
    const { method, path } = ROUTES[name]
    const methods = paths[`${ADMIN_ROOT}${path}`] ?? {}
    paths[`${ADMIN_ROOT}${path}`] = methods
    methods[method.toLowerCase()] = operationOf(name, ROUTES[name], ROUTE_WORDS[name])
  }
  const { securitySchemes, ...about } = ABOUT
  return { ...about, paths, components: { securitySchemes, responses: refusalAnswers(), schemas: componentSchemas() } }
}

function operationOf(operationId: string, route: AdminRoute, words: RouteWords): JsonObject {
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
    ...(method !== 'GET' && { requestBody: { required: true, content: jsonContent(schemaOf(takes)) } }),
    responses: Object.fromEntries([[words.status ?? 200, answerOf(words)], ...refusalsOf(route, words)]),
  }
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'version' ? 'The number of the version.' : 'The id in question.',
    schema: { type: 'string' },
  }))
}

function queryParameters({ shape }: z.ZodObject): JsonObject[] {
  return Object.entries(shape).map(([name, rule]) => {
    const { description, ...schema } = schemaOf(rule as z.ZodType)
    return { name, in: 'query', required: !(rule as z.ZodType).safeParse(undefined).success, description, schema }
  })
}

function answerOf({ answer, hasVersion, types = ['application/json'] }: RouteWords): JsonObject {
  const { 'X-Request-Id': requestId, ETag } = HEADERS
  const lines = (type: string) =>
    types.length > 1 && type !== 'application/json' ? { type: 'string' } : schemaOf(answer)
  return {
    description: 'Done.',
    headers: { 'X-Request-Id': requestId, ...(hasVersion && { ETag }) },
    content: Object.fromEntries(types.map((type) => [type, { schema: lines(type) }])),
  }
}

const ALWAYS = [400, 401, 403, 405, 421, 500, 503]

function refusalsOf({ method, path }: AdminRoute, { needs, refusals = [] }: RouteWords): [number, JsonObject][] {
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

function refusalAnswers(): JsonObject {
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

function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } }
}

function componentSchemas(): JsonObject {
  return convert({}).components
}

/** A reference for a schema that has a name. */
function schemaOf(schema: z.ZodType): JsonObject {
  const known = Object.entries(COMPONENTS).find(([, component]) => component === schema)
  return known ? { $ref: `${SCHEMAS}${known[0]}` } : (convert({ schema }).other.schema ?? {})
}

/** Zod writes references among the schemas of one registry only, so each schema is converted beside the components. */
function convert(others: Readonly<Record<string, z.ZodType>>): {
  components: JsonObject
  other: Record<string, JsonObject>
} {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries({ ...COMPONENTS, ...others })) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `${SCHEMAS}${id}`, override: tidy })
  const bare = Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema as JsonObject] as const)
  const isOther = ([id]: readonly [string, JsonObject]) => id in others
  return {
    components: Object.fromEntries(bare.filter((one) => !isOther(one))),
    other: Object.fromEntries(bare.filter(isOther)),
  }
}

/** Every whole number of JSON is within these bounds, and words stand once. */
function tidy({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  for (const one of jsonSchema.anyOf ?? []) if (one.description === jsonSchema.description) delete one.description
}
