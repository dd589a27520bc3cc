import { beforeEach, describe, expect, test } from '@jest/globals'
import {
  begin,
  endBlock,
  exception,
  frame,
  frames,
  metadata,
  openBedrock,
  pointSdkAt,
  type Reply,
  refuse,
  START,
  say,
  stop,
  text,
} from './bedrock-upstream.ts'

const { upstream, gateway } = await openBedrock({
  impatient: { timeouts: { firstByteTimeoutMs: 300, idleTimeoutMs: 200 } },
  unreachable: { provider: 'elsewhere' },
  unsigned: { provider: 'abroad' },
})

beforeEach(() => {
  upstream.requests.length = 0
  upstream.reply = say('Hello')
})

async function ask(model = 'test-model') {
  const asked = await gateway.ask({ model })
  expect(asked.key.holds).toEqual({})
  const result = asked.row.attempts.map((attempt) => attempt.result).join()
  return { ...asked, error: JSON.parse(asked.text).error, result }
}

const askStream = (model = 'test-model') => gateway.ask({ model, stream: true })

const BEFORE: [string, number, number, string][] = [
  ['ValidationException', 400, 400, 'rejected 400'],
  ['SerializationException', 400, 400, 'rejected 400'],
  ['AccessDeniedException', 403, 502, 'credential 403'],
  ['UnrecognizedClientException', 403, 502, 'credential 403'],
  ['ExpiredTokenException', 403, 502, 'credential 403'],
  ['InvalidSignatureException', 403, 502, 'credential 403'],
  ['SomethingForbidden', 403, 502, 'forbidden 403'],
  ['ThrottlingException', 429, 503, 'status 429'],
  ['ModelNotReadyException', 429, 503, 'status 429'],
  ['ServiceQuotaExceededException', 400, 502, 'status 400'],
  ['ConflictException', 400, 502, 'status 400'],
  ['ResourceNotFoundException', 404, 502, 'model_not_found 404'],
  ['ModelErrorException', 424, 502, 'status 424'],
  ['ModelStreamErrorException', 424, 502, 'status 424'],
  ['InternalServerException', 500, 502, 'status 500'],
  ['ServiceUnavailableException', 503, 502, 'status 503'],
  ['ModelTimeoutException', 408, 504, 'timeout 408'],
  ['SomethingNew', 418, 502, 'status 418'],
]

test.each(BEFORE)('Bedrock’s %s (%i) is answered with %i and costs nothing', async (name, code, status, result) => {
  upstream.reply = refuse(code, name)
  const seen = await ask()
  expect([seen.status, seen.result]).toEqual([status, result])
  expect(seen.row.cost).toBe(0n)
  expect(upstream.requests).toHaveLength(1)
  // The provider's words are for the caller only where they are about the caller's request.
  expect(seen.error.message.includes('Some words.')).toBe(status === 400)
  expect((await askStream()).status).toBe(status)
})

test('a Bedrock exception is told to the caller without the account or keys', async () => {
  const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/x.y-v1:0'
  upstream.reply = refuse(400, 'ValidationException', `The model ${arn} got a bad value from AKIAIOSFODNN7EXAMPLE.`)
  expect((await ask()).error.message).toBe('The model [arn] got a bad value from [key].')
  upstream.reply = refuse(403, 'AccessDeniedException', `User: ${arn} is not authorized`)
  expect((await ask()).error.message).not.toContain('arn')
  expect(gateway.logLines.join('\n')).not.toMatch(/123456789012|AKIA/)
})

test('a Bedrock exception about a prompt that is too long has OpenAI’s code for it', async () => {
  upstream.reply = refuse(400, 'ValidationException', 'Input is too long for requested model.')
  expect((await ask()).error).toMatchObject({ code: 'context_length_exceeded', type: 'invalid_request_error' })
})

test('a Bedrock exception about the route’s model is a 502, not the caller’s 400', async () => {
  upstream.reply = refuse(400, 'ValidationException', 'The provided model identifier is invalid.')
  expect((await ask()).status).toBe(502)
})

test('a Bedrock exception that is not JSON is known by its status', async () => {
  upstream.reply = (stream) => {
    stream.respond({ ':status': 503, 'content-type': 'text/html' })
    stream.end('<html>Sorry</html>')
  }
  expect(await ask()).toMatchObject({ status: 502, result: 'status 503' })
})

const INSIDE: [string, string][] = [
  ['internalServerException', 'status 500'],
  ['modelStreamErrorException', 'status 424'],
  ['validationException', 'rejected 400'],
  ['throttlingException', 'status 429'],
  ['serviceUnavailableException', 'status 503'],
  ['modelTimeoutException', 'timeout 408'],
  ['somethingNewException', 'error_event'],
]
const STATUS: Readonly<Record<string, number>> = { 'rejected 400': 400, 'status 429': 503, 'timeout 408': 504 }
/** Once it has begun to answer, the request was valid. */
const LATER: Readonly<Record<string, number>> = { ...STATUS, 'rejected 400': 502 }

test.each(INSIDE)(
  'Bedrock’s %s before the first word is answered with an error status and costs nothing',
  async (name, result) => {
    for (const before of [[], [START]]) {
      upstream.reply = frames(...before, exception(name, 'Some words.'))
      expect(await ask()).toMatchObject({ status: STATUS[result] ?? 502, result, row: { cost: 0n } })
    }
  },
)

test.each(INSIDE)(
  'Bedrock’s %s after the first word is an error in the stream, and the delivered part is billed',
  async (name, result) => {
    upstream.reply = frames(START, text('Hel'), exception(name, 'Some words.'))
    const { status, text: body, row } = await askStream()
    expect(status).toBe(200)
    expect(body).toMatch(/"content":"Hel".*data: \{"error":\{[^\n]*\}\}\n\n$/s)
    expect(row).toMatchObject({ outcome: 'upstream_error', usageSource: 'estimate' })
    expect(row.cost).toBeGreaterThan(0n)
    expect((await ask()).status).toBe(LATER[result] ?? 502)
  },
)

test('a Bedrock error event without an exception type is a 502', async () => {
  const headers = { ':message-type': 'error', ':error-code': 'InternalServerError', ':error-message': 'Oops' }
  upstream.reply = frames(START, frame(headers, ''))
  expect(await ask()).toMatchObject({ status: 502, result: 'error_event' })
})

describe('broken streams', () => {
  const whole = Buffer.concat([START, text('Hello'), endBlock(), stop('end_turn'), metadata()])
  const beginThen =
    (end: (stream: Parameters<Reply>[0]) => void): Reply =>
    async (stream) => {
      begin(stream)
      await new Promise((resolve) => stream.write(START, resolve))
      setTimeout(() => end(stream), 50)
    }
  const flipped = Buffer.from(text('Hello'))
  flipped.writeUInt8(flipped.readUInt8(flipped.length - 8) ^ 1, flipped.length - 8)
  const cases: [string, Reply, string][] = [
    ['that ends without messageStop', frames(START, text('Hel')), 'reset'],
    ['that ends at once', frames(), 'reset'],
    ['that ends within a frame', frames(whole.subarray(0, START.length + 50)), 'reset'],
    ['that ends within its first length', frames(whole.subarray(0, 3)), 'reset'],
    ['with a wrong checksum', frames(START, flipped), 'protocol'],
    ['that is not an event stream', frames(Buffer.from('HTTP/1.1 200 OK\r\n\r\nnot frames at all')), 'reset'],
    [
      'with a payload that is not JSON',
      frames(frame({ ':message-type': 'event', ':event-type': 'messageStart' }, '{"')),
      'protocol',
    ],
    ['with a frame without headers', frames(START, frame({}, '{}')), 'protocol'],
    ['that is reset', (stream) => stream.close(2), 'reset'],
    ['whose connection is closed', (stream) => stream.session?.destroy(), 'reset'],
    ['that is reset in the middle', beginThen((stream) => stream.close(2)), 'reset'],
    ['whose connection is closed in the middle', beginThen((stream) => stream.session?.destroy()), 'reset'],
  ]
  test.each(cases)('a Bedrock stream %s is an upstream error', async (_, reply, reason) => {
    upstream.reply = reply
    const { status, result, row } = await ask()
    expect([status, row.errorCode]).toEqual([502, 'upstream_error'])
    // An answer that breaks off after a word was noted as ok at first.
    expect(result === 'ok' ? 'reset' : result).toBe(reason)
  })

  test('a Bedrock stream that sends nothing is a 504, and it is closed', async () => {
    const closed = Promise.withResolvers<void>()
    upstream.reply = (stream) => void stream.once('close', () => closed.resolve())
    expect(await ask('impatient')).toMatchObject({ status: 504, result: 'timeout' })
    await closed.promise
  })

  test('a Bedrock stream that falls silent ends with an error, and it is closed', async () => {
    const closed = Promise.withResolvers<void>()
    upstream.reply = (stream) => {
      begin(stream)
      stream.write(Buffer.concat([START, text('Hel')]))
      stream.once('close', () => closed.resolve())
    }
    const { text: body } = await askStream('impatient')
    expect(body).toMatch(/"content":"Hel".*data: \{"error":\{[^\n]*nothing for 200 ms/s)
    await closed.promise
  })

  test('a Bedrock stream that never stops is cut at the output limit, and it is closed', async () => {
    const closed = Promise.withResolvers<void>()
    upstream.reply = (stream) => {
      begin(stream)
      stream.once('close', () => closed.resolve())
      const timer = setInterval(() => stream.write(text('x'.repeat(10_000))), 5)
      stream.once('close', () => clearInterval(timer))
    }
    const { text: body, row } = await askStream()
    expect(body).toMatch(/"finish_reason":"length".*\[DONE\]\n\n$/s)
    expect(row).toMatchObject({ outcome: 'completed', completionTokens: 1_000, attempts: [{ result: 'beyond_cap' }] })
    await closed.promise
  })
})

test('a request to Bedrock is a 502 if Bedrock cannot be reached', async () => {
  pointSdkAt('http://127.0.0.1:9')
  expect(await ask('unreachable')).toMatchObject({ status: 502, result: 'connect' })
  pointSdkAt(upstream.url)
})

test('a request to Bedrock without AWS credentials is a 502, and the log says why', async () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
  process.env.AWS_ACCESS_KEY_ID = ''
  process.env.AWS_SECRET_ACCESS_KEY = ''
  expect(await ask('unsigned')).toMatchObject({ status: 502, result: 'credential' })
  expect(gateway.logLines.join('\n')).toContain('no AWS credentials')
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY })
  expect((await ask('unsigned')).status).toBe(200)
})
