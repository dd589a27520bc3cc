import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { adminOpenApi } from '../../cli/schemas/admin-openapi.ts'
import { ADMIN_ERROR_KINDS, AdminError } from '../../layers/admin/api/admin-error.ts'
import { ADMIN_ROOT, ADMIN_ROUTES } from '../../layers/admin/api/route-table.ts'
import { type Admin, adminOf, once, type Told } from '../admin-api/support/admin.ts'
import { describedTables } from '../support/described-tables.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { hardened, undescribed } from './support/openapi.ts'

type Node = { readonly [name: string]: unknown }
type Documented = { headers: Record<string, { schema: Node }>; content: Record<string, { schema: Node }> }
type Operation = {
  'x-scope'?: string
  parameters?: { name: string; in: string; required: boolean }[]
  responses: Record<string, Documented | { $ref: string }>
}
const documentText = readFileSync(new URL('../../docs/admin-openapi.json', import.meta.url), 'utf8')
const document = JSON.parse(documentText) as {
  paths: Record<string, Record<string, Operation>>
  components: { responses: Record<string, Documented>; schemas: Record<string, Node> }
}

function answerOf({ responses }: Operation, status: number): Documented {
  const found = responses[String(status)]
  if (!found) throw new Error(`status ${status} is not documented`)
  return '$ref' in found ? (document.components.responses[found.$ref.split('/').at(-1) ?? ''] as Documented) : found
}

function checkerOf(schema: Node): z.ZodType {
  const text = JSON.stringify({ ...(hardened(schema) as Node), $defs: hardened(document.components.schemas) })
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')))
}

let gateway: TestGateway
let admin: Admin

beforeAll(async () => {
  gateway = (await openBoth()).gateway
  admin = adminOf(describedTables(gateway.tables))
})

test('docs/admin-openapi.json is as `npm run schema` writes it', () => {
  expect(document).toEqual(JSON.parse(JSON.stringify(adminOpenApi())))
})

test('every property, query and header of docs/admin-openapi.json is described', () => {
  expect(undescribed(document)).toEqual([])
})

test('docs/admin-openapi.json has no broken reference and no unused component', () => {
  const referred = new Set([...documentText.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)].map(([, a, b]) => `${a}/${b}`))
  const { responses, schemas } = document.components
  const there = [
    ...Object.keys(responses).map((name) => `responses/${name}`),
    ...Object.keys(schemas).map((name) => `schemas/${name}`),
  ]
  expect(there.sort()).toEqual([...referred].sort())
})

test('docs/admin-openapi.json has every error of the admin API under its status', () => {
  const statuses = new Set(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.keys(responses)),
  )
  for (const kind of ADMIN_ERROR_KINDS) expect(statuses).toContain(String(new AdminError(kind, 'why').status))
})

test('a real answer of every route, and its refusals, are as docs/admin-openapi.json says', async () => {
  const { key, secret } = await gateway.issue({ name: 'acme', externalId: 'cus_doc' })
  const asked = (await gateway.post(secret, HELLO)).headers.get('x-request-id') ?? ''
  await admin.call(`POST /keys/${key.id}/rotate`, { headers: once() })
  const catalog = catalogFor('https://up.example/v1')
  const ownSecret = (digit: string) => ({ secret_sha256: digit.repeat(64), last_four: 'abcd' })
  const adminKey = { name: 'doc', scopes: ['keys.read'], allowlist: ['192.0.2.0/24'], daily_grant: '1' }
  const bodies: Record<string, object> = {
    'POST /keys': { name: 'doc', credits: '1' },
    'PATCH /keys/{id}': { rpm: 9 },
    'POST /keys/{id}/revoke': { confirm: 'acme' },
    'POST /keys/{id}/grants': { credits: '1' },
    'PUT /catalog': catalog,
    'POST /catalog/check': { ...catalog, models: 1 },
    'POST /routes/test': {},
    'POST /admin-keys': { ...adminKey, ...ownSecret('1') },
    'POST /admin-keys/{id}/rotate': ownSecret('2'),
    'POST /admin-keys/{id}/revoke': { confirm: 'doc' },
  }
  const made = await admin.call('POST /admin-keys', { body: { ...adminKey, ...ownSecret('0') }, headers: once() })
  const idIn = (path: string) =>
    path.startsWith('/requests') ? asked : path.startsWith('/admin-keys') ? made.body.id : key.id
  const last = (path: string) => Number(path.endsWith('/revoke'))
  for (const { method, path } of ADMIN_ROUTES.toSorted((a, b) => last(a.path) - last(b.path))) {
    const route = `${method} ${path}`
    const operation = document.paths[`${ADMIN_ROOT}${path}`]?.[method.toLowerCase()] as Operation
    const address = `${method} ${path.replace('{id}', idIn(path)).replace('{version}', '1')}`
    const query = path === '/search' ? '?q=acme' : ''
    const seen = path === '/catalog' ? 1 : path.startsWith('/catalog') ? 2 : (await gateway.readKey(key.id)).version
    const body = bodies[route] ?? {}
    const good = await admin.call(address + query, { body, headers: { ...once(), 'if-match': `"${seen}"` } })
    expect([route, good.status < 300]).toEqual([route, true])
    expectDocumented(route, good, operation)
    expectDocumented(route, await admin.call(`${address}?odd=1`), operation)
    if (method === 'GET') continue
    expectDocumented(route, await admin.call(address, { headers: { 'content-type': 'text/plain' } }), operation)
    const required = (operation.parameters ?? []).filter((one) => one.in === 'header').map(({ name }) => name)
    const bare = await admin.call(address, { body })
    if (required.length > 0) expect([route, bare.status]).toEqual([route, required[0] === 'If-Match' ? 428 : 400])
    expectDocumented(route, bare, operation)
  }
})

function expectDocumented(route: string, told: Told<unknown>, operation: Operation): void {
  const { headers, content } = answerOf(operation, told.status)
  for (const [name, { schema }] of Object.entries(headers)) checkerOf(schema).parse(told.headers[name])
  const type = told.headers['Content-Type']?.split(';')[0] ?? ''
  expect([route, Object.keys(content)]).toEqual([route, expect.arrayContaining([type])])
  const checker = checkerOf(content[type]?.schema ?? {})
  const values =
    type === 'application/x-ndjson'
      ? told.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [told.body]
  for (const value of values) {
    const { error } = checker.safeParse(value)
    expect([route, told.status, error?.issues]).toEqual([route, told.status, undefined])
  }
}
