import { expect, test } from '@jest/globals'
import { HTTP_ROUTES } from '../../layers/gateway/endpoints.ts'
import { openBoth } from '../support/stack.ts'

const { gateway } = await openBoth()
const get = (path: string, init?: RequestInit) => fetch(`${gateway.baseUrl}${path}`, init)

test.each([
  ['/', 'text/html; charset=utf-8', '<h1>Waybill</h1>'],
  ['/health', 'application/json', '{"status":"ok"}'],
  ['/llms.txt', 'text/plain; charset=utf-8', '# Waybill'],
  ['/openapi.json', 'application/json', '"openapi":"3.1'],
])('GET %s needs no key, reads nothing and leaves no row', async (path, type, part) => {
  const before = gateway.calls.length
  const response = await get(path)
  const body = await response.text()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
  expect(body).toContain(part)
  expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  const head = await get(path, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  // Neither a read nor a write: a row would be one.
  expect(gateway.calls.length).toBe(before)
})

test('the pages name every call, and the document is of this very gateway', async () => {
  const [home, llms, document] = await Promise.all(
    ['/', '/llms.txt', '/openapi.json'].map(async (path) => (await get(path)).text()),
  )
  for (const { method, path } of HTTP_ROUTES) {
    const call = `${method} ${path.replace(/\{.*/, 'ID')}`
    expect(home).toContain(call)
    expect(llms).toContain(call)
  }
  expect(JSON.parse(document ?? '')).toMatchObject({ servers: [{ url: '/' }], info: { title: 'Waybill' } })
})

test('the first page leads to the page for owners of keys where there is one, and to none elsewhere', async () => {
  const { gateway: withPage } = await openBoth({ hasUsagePage: true })
  const home = await (await fetch(withPage.baseUrl)).text()
  for (const link of ['/usage', '/openapi.json', '/llms.txt', '/health']) expect(home).toContain(`href="${link}"`)
  expect(await (await get('/')).text()).not.toContain('/usage"')
})

test('another method, another letter case and a path below them are no page', async () => {
  for (const [path, method] of [
    ['/', 'POST'],
    ['/Health', 'GET'],
    ['/health/', 'GET'],
    ['/openapi.json/x', 'GET'],
    ['/__proto__', 'GET'],
  ] as const)
    expect([path, (await get(path, { method })).status]).toEqual([path, 404])
})
