import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  checkClosed,
  checkIpv6,
  checkPieces,
  checkPlainHttp,
  checkSwept,
  checkTableSettings,
  manualChecks,
} from '../../cli/smoke/stage-checks.ts'
import { checkCompression, send } from '../../cli/smoke/wire.ts'
import { createSweep } from '../../functions/sweep/create.ts'
import type { TableShape } from '../../layers/admin/api/shapes/answers.ts'
import type { Overview } from '../../layers/admin/api/shapes/usage.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { readStoredCatalog } from '../../layers/gateway/store/catalog/read-catalog.ts'
import { writeCatalog } from '../../layers/gateway/store/catalog/write-catalog.ts'
import manifest from '../../package.json' with { type: 'json' }
import { adminOf } from '../admin-api/support/admin.ts'
import { secretFor, startSecretsManager } from '../deployed/support/secrets-manager.ts'
import { actAt } from '../support/act.ts'
import { catalogFor, HELLO } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { emptyFolder } from '../support/processes.ts'
import { requestIdAt } from '../support/request-id.ts'
import { openBoth } from '../support/stack.ts'
import { chunk, DONE, sse, USAGE, usageChunk } from '../support/upstream.ts'
import { stageOfFile } from './support/commands.ts'

const { opened: it } = await stageOfFile()
const opened = new AsyncDisposableStack()
/** In front of the gateway, as CloudFront is. */
let edgeUrl: string
const edge = createServer(async (request, response) => {
  const body: Buffer[] = []
  for await (const piece of request) body.push(piece)
  const answer = await fetch(`${it.gateway.baseUrl}${request.url}`, {
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
  const words = ['one ', 'two ', 'three '].map((content) => chunk({ content }))
  it.upstream.reply = sse([...words, chunk({}, 'stop'), usageChunk(USAGE), DONE], 150)
  edgeUrl = opened.use(await listen(edge)).url
})
afterAll(() => opened.disposeAsync())

const ALARMS = { 'Waybill-dev-SweepStopped': 'OK', 'Waybill-dev-Unpaid': 'ALARM' }

const smoke = (...more: string[]) => it.stage.start('cli/waybill.ts', ['smoke', '--stage', 'dev', ...more]).ended

test('waybill smoke sees a stream come piece by piece, and lists what a person must look at', async () => {
  it.stage.outputs = { ...it.stage.outputs, BaseUrl: it.gateway.baseUrl }
  const { code, stdout } = await smoke()
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {6}a stream comes piece by piece/m)])
  const byHand = stdout.split('By hand')[1]?.match(/^- .*/gm) ?? []
  expect(byHand).toHaveLength(4)
  expect(byHand.join()).toMatch(/Alarms reach somebody.*Sweeps and the probe run.*around CloudFront/s)
})

test('waybill smoke fails if something in front of the gateway gathers streams, or its origin is open, and says so', async () => {
  it.stage.outputs = { ...it.stage.outputs, BaseUrl: edgeUrl }
  const { code, stdout } = await smoke('--origin', it.gateway.baseUrl)
  expect(code).toBe(1)
  expect(stdout).toMatch(/^FAILED {2}a stream comes piece by piece.*gathers answers/m)
  expect(stdout).toMatch(/^FAILED {2}http:\S+ is closed to whoever goes around CloudFront.*answers 401/m)
  expect(stdout.match(/^FAILED/gm)).toHaveLength(2)
  expect(stdout).not.toContain('--origin URL')
})

test('waybill smoke --report writes what was seen and no secret, and never over a file', async () => {
  it.stage.outputs = { ...it.stage.outputs, BaseUrl: it.gateway.baseUrl }
  const file = join(emptyFolder(), 'report.json')
  await using cloudWatch = await listen(
    createServer(({ url = '', headers }, response) => {
      const isAsked =
        url.includes('AlarmNamePrefix=Waybill-dev-&') && /\/monitoring\/aws4_request/.test(headers.authorization ?? '')
      const alarm = ([name, state]: string[]) =>
        `<member><AlarmName>${name}</AlarmName><StateReason>x</StateReason>\n<StateValue>${state}</StateValue></member>`
      response.writeHead(isAsked ? 200 : 403).end(Object.entries(ALARMS).map(alarm).join('\n'))
    }),
  )
  const withReport = (env = {}) =>
    it.stage.start('cli/waybill.ts', ['smoke', '--stage', 'dev', '--report', file], env).ended
  const { code, stdout } = await withReport({ AWS_ENDPOINT_URL_CLOUDWATCH: cloudWatch.url })
  expect(code).toBe(0)
  const text = readFileSync(file, 'utf8')
  const { checks, calls, completions, ...report } = JSON.parse(text)
  const lines = checks.map(({ result, check, detail }: Record<string, string>) =>
    [result?.padEnd(8), check, ...(detail ? [': ', detail] : [])].join(''),
  )
  expect(stdout.startsWith(`${lines.join('\n')}\n`)).toBe(true)
  expect(report).toMatchObject({ waybill: manifest.version, node: process.version, stage: 'dev', region: 'us-east-1' })
  expect(report.alarms).toEqual(ALARMS)
  expect(completions.warm_p50_ms).toBeLessThanOrEqual(completions.warm_p95_ms)
  expect(completions).toMatchObject({ first_ms: expect.any(Number), warm: 19 })
  const gzipped = calls.find((call: { call: string; bytes: number; stream_ms: number }) => call.stream_ms > 0)
  expect(gzipped).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('event-stream') } })
  for (const secret of [BRAND.keyPrefix, 'Bearer', 'AWS4', 'Count from 1', it.stage.outputs.AdminUrl ?? '']) {
    expect(text).not.toContain(secret)
  }
  const again = await withReport()
  expect([again.code, again.stdout]).toEqual([1, ''])
  expect(again.stderr).toContain('it is there already: remove it, or name another by --report')
})

test('how a stream comes over the wire is told with what to set: compressed, off, stripped on the way, or unreadable', async () => {
  const { gateway, upstream } = await openBoth({ isCompressed: true })
  upstream.reply = it.upstream.reply
  const { secret } = await gateway.issue()
  const asked = (baseUrl: string, key = secret) =>
    send(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' },
      body: JSON.stringify({ ...HELLO, stream: true }),
    })
  const packed = await asked(gateway.baseUrl)
  expect(checkCompression(packed)).toMatch(/^compressed, \d+ bytes on the wire for \d+; leave "compress": true$/)
  const off = await asked(it.gateway.baseUrl, (await it.gateway.issue()).secret)
  expect(checkCompression(off)).toMatch(/^off, \d+ bytes on the wire; "compress": true tries it$/)
  const { 'content-encoding': _, ...headers } = packed.headers
  expect(() => checkCompression({ ...packed, headers })).toThrow(/cannot read it. Set "compress": false/)
  expect(() => checkCompression({ ...packed, body: gunzipSync(packed.body), headers })).toThrow(
    /^stripped: .* Set "compress": false$/,
  )
})

describe('a check of smoke', () => {
  const rowOf = (duration_ms: number, ttft_ms: number | null) => ({ duration_ms, ttft_ms })

  test('the time of a stream is judged only if the model took long enough', () => {
    expect(checkPieces(rowOf(3_000, 1_000), 1_900)).toBeUndefined()
    expect(checkPieces(rowOf(1_300, 1_000), 0)).toHaveProperty('notApplicable')
    expect(checkPieces(rowOf(300, null), 5_000)).toHaveProperty('notApplicable')
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
    await expect(checkClosed(it.gateway.baseUrl)).rejects.toThrow(/401 in place of 403.*Deploy again/)
    await using closed = await answering(403, { error: { code: 'direct_access_denied' } })
    expect(await checkClosed(closed.url)).toBeUndefined()
    await using other = await answering(403, { message: 'Forbidden' })
    await expect(checkClosed(other.url)).rejects.toThrow('answers 403')
  })

  test('a gateway that answers over plain HTTP is a failure; one that refuses it or sends it on is not', async () => {
    const secure = (url: string) => url.replace('http:', 'https:')
    await expect(checkPlainHttp(secure(it.gateway.baseUrl))).rejects.toThrow('answers 401')
    await using refusing = await answering(403, {})
    expect(await checkPlainHttp(secure(refusing.url))).toBeUndefined()
    await using moved = await answering(301, {})
    expect(await checkPlainHttp(secure(moved.url))).toBeUndefined()
    expect(await checkPlainHttp(it.gateway.baseUrl)).toHaveProperty('notApplicable')
  })

  test('a dead request that three sweeps have left lying is a failure', async () => {
    const admin = adminOf(it.gateway.tables)
    const overviewAt = async (untilMs: number): Promise<Overview> => {
      const { key } = await it.gateway.issue()
      const nowMs = untilMs - 60_000
      const dead = { requestId: requestIdAt(nowMs), hash: key.current.hash, nowMs, hold: 1n, holdUntilMs: untilMs }
      await takeAdmission(it.gateway.tables)(key, dead)
      return (await admin.call('GET /overview')).body
    }
    expect(() => checkSwept({ dead_requests: [] })).not.toThrow()
    expect(await overviewAt(Date.now() - 14 * 60_000)).toMatchObject({ dead_requests: [] })
    const late = await overviewAt(Date.now() - 16 * 60_000)
    expect(() => checkSwept(late)).toThrow(/req_\w+: look .*EventBridge Scheduler/)
    await createSweep(it.gateway.instance)()
  })

  test('a route that does not answer is a failure with its reason, such as a secret that is not there', async () => {
    const { data } = (await readStoredCatalog(it.gateway.tables)()) ?? {}
    const baseUrl = 'https://api.example/v1'
    await writeCatalog(it.gateway.tables)(catalogFor(baseUrl, {}, { apiKey: 'secret:up' }), actAt())
    await using secrets = await startSecretsManager({ 'waybill/dev/up': secretFor('https://other.example/v1', 'sk-1') })
    const signedIn = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
    Object.assign(process.env, signedIn, { AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint })
    const { stdout } = await smoke()
    expect(stdout).toMatch(
      /^FAILED {2}every route.*The secret waybill\/dev\/up does not name api\.example in its "hosts"/m,
    )
    if (data) await writeCatalog(it.gateway.tables)(data, actAt())
  })

  const RIGHT = { object: 'table', expires: true, recoverable: true, deletion_protected: true } as const
  const LOST = { ...RIGHT, expires: false, recoverable: false, deletion_protected: false }
  const KINDS = ['keys', 'usage', 'answers'] as const
  const tables = (lost?: TableShape['kind']): TableShape[] =>
    KINDS.map((kind) => ({ ...(kind === lost ? LOST : RIGHT), kind, name: kind.toUpperCase() }))

  test('a restored table is told with every setting that it has lost, by the command that sets it', () => {
    expect(() => checkTableSettings(tables(), true)).not.toThrow()
    expect(() => checkTableSettings(tables('usage'), true)).toThrow(
      [
        'a table is not as it was deployed. Repair it:',
        'aws dynamodb update-time-to-live --table-name USAGE --time-to-live-specification Enabled=true,AttributeName=expiresAt',
        'aws dynamodb update-continuous-backups --table-name USAGE --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true',
        'aws dynamodb update-table --table-name USAGE --deletion-protection-enabled',
      ].join('\n  '),
    )
  })

  test('a stage without deletion protection wants none, and nobody wants to recover kept answers', () => {
    const commands = () => checkTableSettings(tables('answers'), false)
    expect(commands).toThrow('update-time-to-live')
    expect(commands).not.toThrow(/update-table|continuous-backups/)
  })

  test('what was checked, or is not there, is not asked of a person', () => {
    const lines = manualChecks('dev', true, 2).join()
    expect(lines).not.toContain('around CloudFront')
  })
})

function answering(status: number, body: object) {
  return listen(createServer((_, response) => response.writeHead(status).end(JSON.stringify(body))))
}
