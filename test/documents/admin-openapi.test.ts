import { expect, test } from '@jest/globals'
import { adminOpenApi } from '../../cli/schemas/admin-openapi.ts'
import { ADMIN_ERROR_KINDS, AdminError } from '../../layers/admin/api/admin-error.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { adminOf, type Told } from '../admin-api/support/admin.ts'
import { goodCalls } from '../admin-api/support/good-calls.ts'
import { describedTables } from '../support/described-tables.ts'
import { openBoth } from '../support/stack.ts'
import { type Operation, readOpenApi, undescribed } from './support/openapi.ts'

const { document, checkerOf, answerOf, components } = readOpenApi('admin-openapi.json')

const gateway = (await openBoth()).gateway
const admin = adminOf(describedTables(gateway.tables))

test('docs/admin-openapi.json is as `npm run schema` writes it', () => {
  expect(document).toEqual(JSON.parse(JSON.stringify(adminOpenApi())))
})

test('every property, query and header of docs/admin-openapi.json is described', () => {
  expect(undescribed(document)).toEqual([])
})

test('docs/admin-openapi.json has no broken reference and no unused component', () => {
  const { there, referred } = components()
  expect(there).toEqual(referred)
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
  for await (const { route, address, query, sent } of goodCalls(admin, gateway)) {
    const name = `${route.method} ${route.path}`
    const operation = document.paths[`${ADMIN_ROOT}${route.path}`]?.[route.method.toLowerCase()] as Operation
    const good = await admin.call(address + query, sent)
    expect([name, good.status < 300]).toEqual([name, true])
    expectDocumented(name, good, operation)
    expectDocumented(name, await admin.call(`${address}?odd=1`), operation)
    if (route.method === 'GET') continue
    expectDocumented(name, await admin.call(address, { headers: { 'content-type': 'text/plain' } }), operation)
    const required = (operation.parameters ?? []).filter((one) => one.in === 'header')
    const bare = await admin.call(address, { body: sent.body })
    if (required[0]) expect([name, bare.status]).toEqual([name, required[0].name === 'If-Match' ? 428 : 400])
    expectDocumented(name, bare, operation)
  }
})

function expectDocumented(route: string, told: Told<unknown>, operation: Operation): void {
  const { headers = {}, content = {} } = answerOf(operation, told.status) ?? {}
  for (const [name, { schema }] of Object.entries(headers)) checkerOf(schema ?? {}).parse(told.headers[name])
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
