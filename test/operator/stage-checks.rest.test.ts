import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { Key } from '../../layers/gateway/domain/key.ts'
import type { UsageRow } from '../../layers/gateway/domain/usage-row.ts'
import { readStageKey } from '../../operator/routes/stage-keys.ts'
import {
  checkClosed,
  checkIpv6,
  checkPieces,
  checkPlainHttp,
  checkProviderKeys,
  checkSwept,
  manualChecks,
} from '../../operator/smoke/stage-checks.ts'
import { secretFor, startSecretsManager } from '../deployed/support/secrets-manager.ts'
import { catalogFor, type TestGateway } from '../support/gateway.ts'
import { openBoth, openStage } from '../support/stack.ts'
import type { Stage } from '../support/stage.ts'
import { chunk, DONE, sse, USAGE, usageChunk } from '../support/upstream.ts'

jest.setTimeout(60_000)

let gateway: TestGateway
let stage: Stage
/** In front of the gateway, as CloudFront is. */
const edge = createServer(async (request, response) => {
  const body: Buffer[] = []
  for await (const piece of request) body.push(piece)
  const answer = await fetch(`${gateway.baseUrl}${request.url}`, {
    method: request.method ?? 'GET',
    headers: { Authorization: request.headers.authorization ?? '', 'Content-Type': 'application/json' },
    ...(body.length > 0 && { body: Buffer.concat(body) }),
  })
  // It gathers the whole answer before it passes anything on.
  const whole = Buffer.from(await answer.arrayBuffer())
  const { 'content-encoding': _, ...headers } = Object.fromEntries(answer.headers)
  response.writeHead(answer.status, headers).end(whole)
})

beforeAll(async () => {
  const both = await openBoth()
  gateway = both.gateway
  const words = ['one ', 'two ', 'three '].map((content) => chunk({ content }))
  both.upstream.reply = sse([...words, chunk({}, 'stop'), usageChunk(USAGE), DONE], 150)
  stage = await openStage(gateway.tables, gateway.baseUrl)
  await new Promise<void>((resolve) => edge.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  edge.closeAllConnections()
  edge.close()
})

const smoke = (...more: string[]) => stage.start('operator/waybill.ts', ['smoke', '--stage', 'dev', ...more]).ended

test('waybill smoke sees a stream come piece by piece, and lists what a person must look at', async () => {
  stage.outputs = { ...stage.outputs, BaseUrl: gateway.baseUrl }
  const { code, stdout } = await smoke()
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {6}a stream comes piece by piece/m)])
  const byHand = stdout.split('By hand')[1]?.match(/^- .*/gm) ?? []
  expect(byHand).toHaveLength(4)
  expect(byHand.join()).toMatch(/Alarms reach somebody.*Sweeps run.*around CloudFront/s)
})

test('waybill smoke fails if something in front of the gateway gathers streams, or its origin is open, and says so', async () => {
  stage.outputs = { ...stage.outputs, BaseUrl: `http://127.0.0.1:${(edge.address() as AddressInfo).port}` }
  const { code, stdout } = await smoke('--origin', gateway.baseUrl)
  expect(code).toBe(1)
  expect(stdout).toMatch(/^FAILED {2}a stream comes piece by piece.*gathers answers/m)
  expect(stdout).toMatch(/^FAILED {2}http:\S+ is closed to whoever goes around CloudFront.*answers 401/m)
  expect(stdout.match(/^FAILED/gm)).toHaveLength(2)
  expect(stdout).not.toContain('--origin URL')
})

describe('a check of smoke', () => {
  const rowOf = (durationMs: number, ttftMs: number) => ({ durationMs, ttftMs }) as UsageRow

  test('the time of a stream is judged only if the model took long enough', () => {
    expect(checkPieces(rowOf(3_000, 1_000), 1_900)).toBeUndefined()
    expect(checkPieces(rowOf(1_300, 1_000), 0)).toHaveProperty('notApplicable')
    expect(checkPieces(undefined, 5_000)).toHaveProperty('notApplicable')
    expect(() => checkPieces(rowOf(3_000, 1_000), 100)).toThrow('gathers answers')
  })

  test('a name with or without IPv6 must be as the settings say', async () => {
    const url = 'https://d111.cloudfront.net'
    const has = async () => ['2600:9000::1']
    const none = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENODATA' }))
    const away = () => Promise.reject(Object.assign(new Error('no server'), { code: 'ETIMEOUT' }))
    expect(await checkIpv6(url, true, has)).toBeUndefined()
    expect(await checkIpv6(url, false, none)).toBeUndefined()
    await expect(checkIpv6(url, true, none)).rejects.toThrow('no IPv6 address')
    await expect(checkIpv6(url, false, has)).rejects.toThrow('2600:9000::1')
    await expect(checkIpv6(url, false, away)).rejects.toThrow('no server')
    expect(await checkIpv6('http://127.0.0.1:1', true, none)).toHaveProperty('notApplicable')
  })

  test('an origin that answers whoever goes around CloudFront is a failure, and a closed one is not', async () => {
    await expect(checkClosed(gateway.baseUrl)).rejects.toThrow(/401 in place of 403.*Deploy again/)
    await using closed = await answering(403, { error: { code: 'direct_access_denied' } })
    expect(await checkClosed(closed.url)).toBeUndefined()
    await using other = await answering(403, { message: 'Forbidden' })
    await expect(checkClosed(other.url)).rejects.toThrow('answers 403')
  })

  test('a gateway that answers over plain HTTP is a failure; one that refuses it or sends it on is not', async () => {
    const secure = (url: string) => url.replace('http:', 'https:')
    await expect(checkPlainHttp(secure(gateway.baseUrl))).rejects.toThrow('answers 401')
    await using refusing = await answering(403, {})
    expect(await checkPlainHttp(secure(refusing.url))).toBeUndefined()
    await using moved = await answering(301, {})
    expect(await checkPlainHttp(secure(moved.url))).toBeUndefined()
    expect(await checkPlainHttp(gateway.baseUrl)).toHaveProperty('notApplicable')
  })

  test('a dead request that three sweeps have left lying is a failure', async () => {
    const { key } = await gateway.issue()
    const deadAt = (untilMs: number): Key => ({ ...key, holds: { req_dead: { amount: 1n, untilMs } } })
    const nowMs = Date.now()
    expect(() => checkSwept([deadAt(nowMs - 14 * 60_000), deadAt(nowMs + 1)], nowMs)).not.toThrow()
    expect(() => checkSwept([deadAt(nowMs - 16 * 60_000)], nowMs)).toThrow(/req_dead of .*EventBridge Scheduler/)
  })

  test('a provider that may not have its key is a failure in the words of the gateway, and so is a missing secret', async () => {
    const baseUrl = 'https://api.example/v1'
    await using secrets = await startSecretsManager({
      'waybill/good/up': secretFor(baseUrl, 'sk-1'),
      'waybill/other/up': secretFor('https://other.example/v1', 'sk-1'),
    })
    Object.assign(process.env, { AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint })
    const credentials = async () => ({ accessKeyId: 'test', secretAccessKey: 'test' })
    const client = { config: { region: async () => 'us-east-1', credentials } }
    const of = (name: string) =>
      checkProviderKeys(catalogFor(baseUrl, {}, { apiKey: 'secret:up' }), readStageKey(name, client))
    expect(await of('good')).toBeUndefined()
    await expect(of('other')).rejects.toThrow('The secret waybill/other/up does not name api.example in its "hosts"')
    await expect(of('empty')).rejects.toThrow("there is no secret 'up'")
  })

  test('what was checked, or is not there, is not asked of a person', () => {
    const lines = manualChecks({ name: 'dev', hasEdge: true }, 2).join()
    expect(lines).not.toContain('around CloudFront')
  })
})

async function answering(status: number, body: object): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
