import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { parseCatalog } from '../../catalog/parse-catalog.ts'
import { readConfig } from '../../layers/gateway/config.ts'
import { ENV } from '../../layers/gateway/contract.ts'
import { xrayDaemon } from '../../layers/gateway/trace/daemon.ts'
import { parseTraceContext } from '../../layers/gateway/trace/trace-context.ts'
import { openTracer } from '../../layers/gateway/trace/tracer.ts'
import { HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, DONE, say, sse, status, type Upstream, USAGE, usageChunk } from '../support/upstream.ts'
import { type Subsegment, startXrayDaemon, type TestDaemon, type TraceDocument } from '../support/xray-daemon.ts'

const ROOT = '1-67890abc-0123456789abcdef01234567'
const PARENT = '53995c3f42cd8ad8'
const SAMPLED = `Root=${ROOT};Parent=${PARENT};Sampled=1;Lineage=1:2a3b4c5d:0`
const WORDS = 'words-of-this-prompt'
const ASKED = { ...HELLO, messages: [{ role: 'user', content: WORDS }] }

let daemon: TestDaemon
let first: Upstream
let second: Upstream
let gateway: TestGateway
let header: string | undefined = SAMPLED

beforeAll(async () => {
  daemon = await startXrayDaemon()
  first = await openUpstream()
  second = await openUpstream()
  const parsed = parseCatalog({
    providers: { one: { type: 'openai', baseUrl: first.url }, two: { type: 'openai', baseUrl: second.url } },
    models: [
      {
        id: 'test-model',
        contextLength: 100_000,
        maxOutputTokens: 1000,
        price: { input: '1', output: '2' },
        routes: [
          { provider: 'one', model: 'm1', priority: 0 },
          { provider: 'two', model: 'm2', priority: 1 },
        ],
      },
    ],
  })
  if ('faults' in parsed) throw new Error(parsed.faults.join('; '))
  const tracer = openTracer({
    send: xrayDaemon(daemon),
    readHeader: () => header,
    clock: Date.now,
    random: randomBytes,
  })
  gateway = await openFor(parsed.catalog, { tracer })
})
beforeEach(() => {
  header = SAMPLED
  first.reply = say('Hello')
  second.reply = say('Hello')
})
afterAll(async () => {
  await daemon[Symbol.asyncDispose]()
})

const idOf = (answer: Response) => answer.headers.get('x-request-id')
const namesOf = ({ subsegments = [] }: Subsegment) => subsegments.map(({ name }) => name)

/** All parts of a document, itself first. */
const partsOf = (part: Subsegment): Subsegment[] => [part, ...(part.subsegments ?? []).flatMap(partsOf)]

/** What X-Ray demands of every document, and what makes one readable. */
function expectWhole(document: TraceDocument): void {
  expect(document).toMatchObject({ type: 'subsegment', trace_id: ROOT, parent_id: PARENT })
  const parts = partsOf(document)
  for (const { id, name, start_time, end_time } of parts) {
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(name).toMatch(/^[\p{L}\p{N}\s_.:/%&#=+\-@]{1,200}$/u)
    // Seconds, and not milliseconds.
    expect(Math.abs(start_time - Date.now() / 1000)).toBeLessThan(60)
    expect(end_time).toBeGreaterThanOrEqual(start_time)
  }
  expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length)
  const steps = document.subsegments ?? []
  expect(steps[0]?.start_time).toBe(document.start_time)
  expect(steps.at(-1)?.end_time).toBe(document.end_time)
  // The clock counts whole milliseconds.
  for (const [i, step] of steps.entries()) {
    const before = steps[i - 1]?.end_time ?? document.start_time
    expect(step.start_time).toBeGreaterThanOrEqual(before - 0.0021)
  }
  for (const annotation of Object.keys(document.annotations ?? {})) expect(annotation).toMatch(/^\w+$/)
}

test('a request leaves one trace with its gates, its admission, its attempt and its settlement, found by its X-Request-Id', async () => {
  const { key, secret } = await gateway.issue()
  const answer = await gateway.post(secret, ASKED)
  expect(answer.status).toBe(200)
  const document = await daemon.documentOf(idOf(answer))
  expectWhole(document)
  expect(document).toMatchObject({ name: 'chat.completions' })
  expect(namesOf(document)).toEqual(['gates', 'admission', 'idempotency', 'one', 'settlement'])
  expect(document.annotations).toEqual({
    request_id: idOf(answer),
    key_id: key.id,
    model: 'test-model',
    provider: 'one',
    stream: false,
    outcome: 'completed',
    http_status: 200,
  })
  for (const flag of ['error', 'fault', 'throttle']) expect(document).not.toHaveProperty(flag)
  expect(daemon.datagrams.filter((it) => it.includes(String(idOf(answer))))).toHaveLength(1)
})

test('the trace of a stream has the time to its first token, and the time to its last', async () => {
  const { secret } = await gateway.issue()
  first.reply = sse([chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop'), usageChunk(USAGE), DONE], 40)
  const answer = await gateway.post(secret, { ...ASKED, stream: true })
  await answer.text()
  const document = await daemon.documentOf(idOf(answer))
  expectWhole(document)
  expect(document.annotations).toMatchObject({ stream: true, outcome: 'completed' })
  const attempt = document.subsegments?.find(({ name }) => name === 'one')
  expect(attempt).toMatchObject({ namespace: 'remote', annotations: { provider: 'one', result: 'ok' } })
  const [token, ...more] = attempt?.subsegments ?? []
  expect([token?.name, more]).toEqual(['first token', []])
  const row = await gateway.readRow(idOf(answer))
  expect(token?.end_time).toBeCloseTo((row.startedAtMs + (row.ttftMs ?? 0)) / 1000, 3)
  expect((attempt?.end_time ?? 0) - (token?.end_time ?? 0)).toBeGreaterThan(0.1)
})

test('the trace of a failover has each attempt with its own time and result', async () => {
  const { secret } = await gateway.issue()
  first.reply = async (response, request) => {
    await sleep(60)
    await status(503, 'busy')(response, request)
  }
  const answer = await gateway.post(secret, ASKED)
  expect(answer.status).toBe(200)
  const document = await daemon.documentOf(idOf(answer))
  expectWhole(document)
  expect(namesOf(document)).toEqual(['gates', 'admission', 'idempotency', 'one', 'two', 'settlement'])
  const [one, two] = document.subsegments?.slice(3) ?? []
  expect(one).toMatchObject({ fault: true, annotations: { provider: 'one', result: expect.stringMatching(/503/) } })
  expect(two).not.toHaveProperty('fault')
  expect((one?.end_time ?? 0) - (one?.start_time ?? 0)).toBeGreaterThanOrEqual(0.055)
  expect(Math.abs((two?.start_time ?? 0) - (one?.end_time ?? 0))).toBeLessThan(0.02)
  expect(document.annotations).toMatchObject({ provider: 'two', outcome: 'completed' })
})

test('the trace of a stream that broke is a fault, although its status was 200', async () => {
  const { secret } = await gateway.issue()
  first.reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(chunk({ content: 'a' }), () => response.destroy())
  }
  const answer = await gateway.post(secret, { ...ASKED, stream: true })
  await answer.text()
  const document = await daemon.documentOf(idOf(answer))
  expectWhole(document)
  expect(document).toMatchObject({ fault: true, annotations: { http_status: 200, outcome: 'upstream_error' } })
})

test('the trace of a 429 says that the request was throttled at its admission, and has no attempt', async () => {
  const { secret } = await gateway.issue({ rpm: 1 })
  await (await gateway.post(secret, ASKED)).text()
  const refused = await gateway.post(secret, ASKED)
  expect(refused.status).toBe(429)
  const document = await daemon.documentOf(idOf(refused))
  expectWhole(document)
  expect(namesOf(document)).toEqual(['gates', 'admission', 'settlement'])
  expect(document).toMatchObject({ error: true, throttle: true, annotations: { outcome: 'refused', http_status: 429 } })
  expect(document.annotations?.error_code).toEqual(expect.stringMatching(/^[a-z_]+$/))
})

test('the trace of a refusal before admission has its gates only, and an endpoint without a model none of a model’s fields', async () => {
  const { secret } = await gateway.issue({ scopes: ['chat.completions'] })
  const refused = await gateway.get(secret, '/v1/models')
  const document = await daemon.documentOf(idOf(refused))
  expectWhole(document)
  expect([refused.status, document.name, namesOf(document)]).toEqual([403, 'models', ['gates', 'settlement']])
  expect(document.annotations).not.toHaveProperty('model')
  const seen = await gateway.get(secret, '/v1/key/introspect')
  const other = await daemon.documentOf(idOf(seen))
  expectWhole(other)
  expect(namesOf(other)).toEqual(['gates', 'admission', 'settlement'])
})

test('no trace has a word of a prompt or an answer, or a secret', async () => {
  const { secret } = await gateway.issue()
  first.reply = say('words-of-this-answer')
  const answer = await gateway.post(secret, ASKED)
  await daemon.documentOf(idOf(answer))
  expect(daemon.datagrams.length).toBeGreaterThan(0)
  const all = daemon.datagrams.join('\n')
  expect(all).not.toMatch(/words-of-this|svc_live_/)
})

test('a request that AWS does not sample sends nothing, and neither does one without a valid key', async () => {
  const { secret } = await gateway.issue()
  const before = daemon.datagrams.length
  for (const unsampled of [undefined, '', `Root=${ROOT};Parent=${PARENT};Sampled=0`, `Root=${ROOT};Sampled=1`]) {
    header = unsampled
    expect((await gateway.post(secret, ASKED)).status).toBe(200)
  }
  header = SAMPLED
  expect((await gateway.post('svc_live_nobody', ASKED)).status).toBe(401)
  const last = await gateway.post(secret, ASKED)
  await daemon.documentOf(idOf(last))
  expect(daemon.datagrams.length).toBe(before + 1)
})

test('a daemon that is gone costs no request its answer', async () => {
  const gone = await startXrayDaemon()
  const { host, port } = gone
  await gone[Symbol.asyncDispose]()
  const send = xrayDaemon({ host, port })
  for (let i = 0; i < 3; i++) await send({ name: 'x' })
  // More than a datagram can carry.
  await send({ name: 'x'.repeat(100_000) })
})

test.each([
  ['caller’s own words', 'Root=1-67890abc-0123456789abcdef01234567";evil;Parent=53995c3f42cd8ad8;Sampled=1'],
  ['another version', 'Root=2-67890abc-0123456789abcdef01234567;Parent=53995c3f42cd8ad8;Sampled=1'],
  ['a parent that is none', 'Root=1-67890abc-0123456789abcdef01234567;Parent=x;Sampled=1'],
])('a trace header with %s is not believed', (_, header) => {
  expect(parseTraceContext(header)).toBeUndefined()
})

test('a function traces only if its stage says so, although Lambda names the daemon to each', () => {
  const names = { [ENV.keysTable]: 'k', [ENV.usageTable]: 'u', [ENV.answersTable]: 'a' }
  const env = { ...names, AWS_XRAY_DAEMON_ADDRESS: '169.254.100.1:2000' }
  expect(readConfig(env)).not.toHaveProperty('tracing')
  expect(readConfig({ ...env, [ENV.tracing]: 'on' }).tracing).toEqual({ host: '169.254.100.1', port: 2000 })
})
