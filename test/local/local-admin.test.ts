import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { listKeys } from '../../layers/gateway/store/keys/read-key.ts'
import { makeAdminKey } from '../support/signed-admin.ts'
import { openBoth, openLocalAdmin } from '../support/stack.ts'

const gateway = (await openBoth()).gateway
const file = await openLocalAdmin(gateway)

/** As anybody could send it: fetch would choose Host and Origin itself. */
async function send(headers: Record<string, string>, path = '/admin/v1/whoami', method = 'GET') {
  const { hostname, port } = new URL(file.baseUrl)
  // A connection that was refused is not used again.
  const sent = request({ hostname, port, path, method, headers, agent: false })
  sent.end(method === 'POST' ? '{"name":"x"}' : '')
  const [answer] = await once(sent, 'response')
  const { error } = JSON.parse(await text(answer))
  return [answer.statusCode, error?.code]
}

const own = (more: Record<string, string> = {}) => ({ Authorization: `Bearer ${file.adminToken}`, ...more })

test('the admin API of a local gateway opens to the token of its folder, and to nothing else on its path', async () => {
  expect(await send(own())).toEqual([200, undefined])
  const adminKey = await makeAdminKey(gateway.tables)
  const { secret } = await gateway.issue()
  for (const wrong of ['', 'x', file.adminToken.slice(1), `${file.adminToken}x`, adminKey, secret]) {
    expect([wrong, ...(await send({ Authorization: `Bearer ${wrong}` }))]).toEqual([wrong, 401, 'invalid_local_token'])
  }
  expect(await send({})).toEqual([401, 'invalid_local_token'])
  expect(await send({ Authorization: `Bearer ${adminKey}` }, '/keyed/admin/v1/whoami')).toEqual([200, undefined])
  expect(await send(own(), '/keyed/admin/v1/whoami')).toEqual([401, 'invalid_admin_key'])
})

test('no page of a browser may call it, and no name that was made to lead here, even with the token', async () => {
  const { port } = new URL(file.baseUrl)
  const before = (await Array.fromAsync(listKeys(gateway.tables)())).length
  for (const headers of [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: `http://127.0.0.1:${Number(port) + 1}` },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate' },
  ]) {
    const json = own({ ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': 'page' })
    expect([headers, ...(await send(json))]).toEqual([headers, 403, 'origin_not_allowed'])
    expect([headers, ...(await send(json, '/admin/v1/keys', 'POST'))]).toEqual([headers, 403, 'origin_not_allowed'])
  }
  for (const Host of ['evil.example', `evil.example:${port}`]) {
    expect([Host, ...(await send(own({ Host })))]).toEqual([Host, 403, 'host_not_allowed'])
  }
  expect(await send(own({ Host: '127.0.0.1:1' }))).toEqual([421, 'host_not_allowed'])
  expect((await Array.fromAsync(listKeys(gateway.tables)())).length).toBe(before)
})
