import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { MINUTE_MS } from '../../../layers/gateway/domain/basics/time.ts'
import { openService } from '../../../layers/gateway/platform/aws/service.ts'
import { isUnavailable } from '../../../layers/gateway/platform/aws/service-error.ts'
import { signer } from '../../../layers/gateway/platform/aws/sign.ts'
import { readCredentials } from '../../../layers/gateway/platform/config.ts'
import { until } from '../../support/wait.ts'
import { openAwsService } from './support/aws-service.ts'

const SERVICE = { name: 'dynamodb', variable: 'DYNAMODB', target: 'DynamoDB_20120810', contentType: 'application/json' }
const TIMEOUTS = { connectMs: 1_000, answerMs: 3_000 }

const aws = await openAwsService('DYNAMODB', (response) => response.end('{"ok":true}'))
const { heard, server } = aws

const fail = (status: number, body: string) => (response: ServerResponse) => response.writeHead(status).end(body)
const open = (timeouts = TIMEOUTS, clock?: () => number) => openService({ ...SERVICE, timeouts }, clock)
const ask = (attempts = 1, call = open()) => call('GetItem', '{"é":1}', { attempts })

test('a call to AWS goes to the address in the environment, with its operation and body', async () => {
  expect(await ask()).toEqual({ ok: true })
  expect(heard).toMatchObject([{ headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' } }])
  expect(String(heard[0]?.body)).toBe('{"é":1}')
})

test('a call to AWS is signed with the credentials in the environment at that moment, session token included', async () => {
  const nowMs = Date.UTC(2026, 10, 15)
  const call = open(TIMEOUTS, () => nowMs)
  const host = new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '').host
  const sign = signer({ service: 'dynamodb', region: 'eu-central-1', host, contentType: 'application/json' })
  const first = readCredentials()
  await ask(1, call)
  const renewed = { AWS_ACCESS_KEY_ID: 'second', AWS_SECRET_ACCESS_KEY: 'other', AWS_SESSION_TOKEN: 'a-session' }
  Object.assign(process.env, renewed)
  const second = readCredentials()
  await ask(1, call)
  const expected = [first, second].map((credentials) => {
    const headers = sign({ target: 'DynamoDB_20120810.GetItem', body: '{"é":1}', credentials, nowMs })
    return headers[headers.indexOf('Authorization') + 1]
  })
  expect(heard.map(({ headers }) => headers.authorization)).toEqual(expected)
  expect(expected[1]).toContain('x-amz-security-token')
  expect(heard.map(({ headers }) => headers['x-amz-security-token'])).toEqual([undefined, 'a-session'])
})

test('a call to AWS without credentials in the environment is not sent, and says what is missing', async () => {
  delete process.env.AWS_ACCESS_KEY_ID
  await expect(ask()).rejects.toThrow('AWS_ACCESS_KEY_ID is not set')
  expect(heard).toEqual([])
})

test.each([
  ['say nothing any more', (socket: Socket) => void socket.pause()],
  ['are reset with the next byte', (socket: Socket) => void socket.on('data', () => socket.resetAndDestroy())],
])('however many kept connections %s, a call to AWS is answered by its second try', async (_, die) => {
  const sockets = new Set<Socket>()
  const meet = (socket: Socket) => void sockets.add(socket)
  server.on('connection', meet)
  const call = open({ connectMs: 1_000, answerMs: 200 })
  const waiting: ServerResponse[] = []
  aws.usual = (response) => void waiting.push(response)
  const kept = Array.from({ length: 5 }, () => ask(1, call))
  await until(() => waiting.length === 5)
  for (const response of waiting) response.end('{"ok":true}')
  await Promise.all(kept)
  const dead = [...sockets]
  for (const socket of dead) {
    socket.removeAllListeners('data')
    die(socket)
  }
  aws.usual = (response) => response.end('{"ok":true}')
  expect(await ask(2, call)).toEqual({ ok: true })
  expect(sockets.size).toBe(dead.length + 1)
  server.off('connection', meet)
  for (const socket of dead) socket.destroy()
})

test.each([
  ['a throttle', fail(400, '{"__type":"x#ThrottlingException"}'), 'ThrottlingException', 3],
  ['a failure of the service', fail(500, '{"__type":"x#InternalServerError"}'), 'InternalServerError', 3],
  ['a failure without a name', fail(503, '{}'), 'UnknownError', 3],
  ['a connection that breaks', (response: ServerResponse) => response.destroy(), 'NetworkingError', 3],
  ['an answer that is not JSON', fail(200, '<html>'), 'NetworkingError', 3],
  ['an answer that is no object', fail(200, 'null'), 'NetworkingError', 3],
  ['an empty answer', fail(200, ''), 'NetworkingError', 3],
  [
    'an answer that is cut off',
    (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Length': 100 })
      response.write('{"ok":true}')
      setImmediate(() => response.destroy())
    },
    'NetworkingError',
    3,
  ],
  ['a complaint about the call', fail(400, '{"__type":"x#ValidationException"}'), 'ValidationException', 1],
  ['a conflict', fail(400, '{"__type":"x#TransactionConflictException"}'), 'TransactionConflictException', 1],
  ['a signature that is refused', fail(400, '{"__type":"InvalidSignatureException"}'), 'InvalidSignatureException', 1],
] as const)(
  'a call to AWS that meets %s fails with its name, and is sent again only if that may help and is allowed',
  async (_, met, name, times) => {
    aws.usual = met
    await expect(ask(3)).rejects.toMatchObject({ name })
    expect(heard).toHaveLength(times)
    await expect(ask(1)).rejects.toMatchObject({ name })
    expect(heard).toHaveLength(times + 1)
    const error = await ask(1).catch((thrown) => thrown)
    expect(isUnavailable(error)).toBe(times > 1 || name === 'TransactionConflictException')
  },
)

test.each<[string, (response: ServerResponse) => unknown]>([
  ['without an answer', () => {}],
  ['whose answer stops half-way', (response) => response.writeHead(200, { 'Content-Length': 100 }).write('{"ok":')],
])('a call to AWS %s ends with a TimeoutError when its time is over', async (_, usual) => {
  aws.usual = usual
  const error = await ask(1, open({ connectMs: 10_000, answerMs: 50 })).catch((thrown) => thrown)
  expect(error).toMatchObject({ name: 'TimeoutError', message: '127.0.0.1: no answer within 50 ms.' })
  expect(isUnavailable(error)).toBe(true)
})

test('a call to AWS whose answer does not end is given up after 16 MiB', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20)
  let sent = 0
  function* endless() {
    for (; sent < 100; sent++) yield chunk
  }
  aws.usual = (response) => Readable.from(endless()).pipe(response.writeHead(200))
  await expect(ask()).rejects.toMatchObject({ name: 'NetworkingError', message: 'The answer is too long.' })
  expect(sent).toBeLessThan(50)
})

test('a call to AWS that reaches nobody fails with the code of the refused connection', async () => {
  process.env.AWS_ENDPOINT_URL_DYNAMODB = 'http://127.0.0.1:1'
  await expect(ask()).rejects.toMatchObject({ name: 'NetworkingError', code: 'ECONNREFUSED' })
})

/** Takes signatures of the last five minutes by its own clock, as AWS does. */
function judging(serverMs: () => number) {
  return (response: ServerResponse) => {
    const signedAt = String(heard.at(-1)?.headers['x-amz-date'])
    const iso = signedAt.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')
    response.setHeader('Date', new Date(serverMs()).toUTCString())
    const isExpired = Math.abs(Date.parse(iso) - serverMs()) > 5 * MINUTE_MS
    if (isExpired) fail(400, '{"__type":"x#InvalidSignatureException","message":"Signature expired"}')(response)
    else response.end('{"ok":true}')
  }
}
const NOW = Date.UTC(2026, 10, 15)

test.each([-3_600_000, 3_600_000])(
  'a clock that is off by %i ms is corrected by the service’s clock, and the refused call is sent again even if others are sent once',
  async (offMs) => {
    aws.usual = judging(() => NOW)
    const call = open(TIMEOUTS, () => NOW + offMs)
    expect(await ask(1, call)).toEqual({ ok: true })
    expect(heard).toHaveLength(2)
    await ask(1, call)
    expect(heard).toHaveLength(3)
  },
)

test('a refused signature is not sent again if the clocks agree within four minutes', async () => {
  aws.usual = (response) => {
    response.setHeader('Date', new Date(NOW).toUTCString())
    fail(400, '{"__type":"InvalidSignatureException"}')(response)
  }
  const call = open(TIMEOUTS, () => NOW + 3 * MINUTE_MS)
  await expect(ask(1, call)).rejects.toThrow()
  expect(heard).toHaveLength(1)
})
