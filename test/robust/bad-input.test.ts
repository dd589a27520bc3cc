import { connect } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { REQUEST_CODES } from '../../layers/gateway/domain/basics/gateway-error.ts'
import type { UsageRow } from '../../layers/gateway/domain/rows/usage-row.ts'
import { BRAND, EDGE_HEADERS } from '../../layers/gateway/names.ts'
import { revokeKey } from '../../layers/gateway/store/keys/rotate-key.ts'
import { actAt } from '../support/act.ts'
import { booksBalance, catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { type RawAnswer, type RawCall, rawCall } from './support/raw-call.ts'

const PROMPT = 'ZEBRA-whispered-prompt'
const MIB = 1024 * 1024
const JSON_TYPE = { 'Content-Type': 'application/json' }

const upstream = await openUpstream()
const { providers, models } = catalogFor(upstream.url)
const gratis = models.map((model) => ({ ...model, id: 'free-model', price: { input: '0', output: '0' } }))
const gateway = await openFor({ providers, models: [...models, ...gratis] })
const { key, secret } = await gateway.issue({ rpm: 60_000, dailyLimit: 1_000_000, credits: '1000' })

beforeEach(() => {
  upstream.reply = say('Hello')
})

const bearer = () => ({ Authorization: `Bearer ${secret}` })

/** A chat request whose body is this text, by the known key. */
function chat(body: string | Buffer | undefined, headers: RawCall['headers'] = JSON_TYPE): Promise<RawAnswer> {
  return rawCall(gateway.baseUrl, { headers: { ...bearer(), ...headers }, body })
}

/** A good request but for these fields. */
const withFields = (fields: object): string =>
  JSON.stringify({ model: 'free-model', messages: [{ role: 'user', content: PROMPT }], ...fields })

type Refusal = {
  readonly status?: number
  readonly code?: string
  readonly param?: string | null
  readonly says?: RegExp
  readonly allow?: string
}

/** The whole guarantee: an honest refusal, on the books as one, free, leaving nothing behind. */
async function expectRefusal(answer: RawAnswer, refusal: Refusal = {}): Promise<UsageRow> {
  expectEnvelope(answer, refusal)
  return expectRefusedOnTheBooks(answer)
}

function expectEnvelope(answer: RawAnswer, { status = 400, code, param, says, allow }: Refusal): void {
  expect([answer.status, answer.body]).toEqual([status, expect.stringContaining('{"error":{"message":"')])
  const { error } = JSON.parse(answer.body) as { error: Record<string, unknown> }
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(error).toMatchObject({ type: 'invalid_request_error', ...(param !== undefined && { param }) })
  expect(code === undefined ? REQUEST_CODES : [code]).toContain(error.code)
  if (says) expect(error.message).toMatch(says)
  expect(answer.headers['content-type']).toBe('application/json')
  expect(answer.body).not.toContain(PROMPT)
  if (allow) expect(answer.headers.allow).toBe(allow)
}

/** Refused, free and finished, and the very next request is served. */
async function expectRefusedOnTheBooks(...answers: [RawAnswer, ...RawAnswer[]]): Promise<UsageRow> {
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req_[0-9A-Z]{26}$/),
      'x-svc-cost': '0',
      'ratelimit-limit': '60000',
      'ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'ratelimit-reset': expect.stringMatching(/^\d+$/),
    })
  }
  const reading = answers.map(({ headers }) => gateway.readRow(headers['x-request-id'] as string))
  const [rows] = await Promise.all([Promise.all(reading), expectGoodRequest()])
  const refused = { keyId: key.id, outcome: 'refused', cost: 0n, hold: 0n }
  expect(rows).toMatchObject(answers.map(({ status }) => ({ ...refused, httpStatus: status })))
  const after = await gateway.readKey(key.id)
  expect(after).toMatchObject({ holds: {}, spent: 0n, available: after.granted })
  return rows[0] as UsageRow
}

/** The gateway is as good as before. */
async function expectGoodRequest(): Promise<void> {
  const answer = await chat(JSON.stringify({ ...HELLO, model: 'free-model' }))
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: expect.stringContaining('Hello') })
}

/** Refused, and no upstream heard of it. */
async function expectChatRefused(body: string | Buffer | undefined, refusal?: Refusal): Promise<UsageRow> {
  const served = upstream.requests.length
  const answer = await chat(body)
  expect(upstream.requests.length).toBe(served)
  return expectRefusal(answer, refusal)
}

describe('bodies that are not JSON objects', () => {
  test.each<[string, string | Buffer | undefined, RegExp]>([
    [
      'that is cut off',
      `{"model":"test-model",\n"messages":[{"role":"user","content":"${PROMPT}`,
      /not valid JSON: line 2, column \d+ ends inside a string: it was cut off/,
    ],
    ['of plain words', PROMPT, /not valid JSON: line 1, column 1 has a letter where a value is needed/],
    [
      'with a trailing comma',
      `{"a":"${PROMPT}",\n}`,
      /line 2, column 1 has '}' .* The comma before it does not belong/,
    ],
    ['with single quotes', `{'model':'${PROMPT}'}`, /line 1, column 2 has a single quote .* double quotes only/],
    ['with two values', `{"a":"${PROMPT}"}{"b":1}`, /has '\{' where the body should have ended/],
    ['with NaN', `{"temperature":NaN,"user":"${PROMPT}"}`, /line 1, column 16 .* JSON has no NaN/],
    ['with a raw control character', `{"user":"${PROMPT}\u0001"}`, /has a control character, .* inside a string/],
    ['of 100,000 unclosed brackets', '['.repeat(100_000), /not valid JSON: line 1, column 65 is nested more than 64/],
    ['of form data', `model=test-model&x=${PROMPT}`, /looks like form data: send JSON/],
    ['that was made JSON twice', JSON.stringify(`{"a":"${PROMPT}"}`), /got a string .* made JSON twice/],
    ['that is empty', '', /is empty/],
    ['that is absent', undefined, /is empty/],
    ['of blanks', ' \r\n\t ', /is empty/],
    ['that is an array', `["${PROMPT}"]`, /must be a JSON object, but got an array of 1 elements/],
    ['that is an empty array', '[]', /must be a JSON object, but got an empty array/],
    ['that is a number', '42', /must be a JSON object, but got 42/],
    ['that is a string', `"${PROMPT}"`, /must be a JSON object, but got a string of \d+ characters/],
    ['that is true', 'true', /must be a JSON object, but got true/],
    ['that is null', 'null', /must be a JSON object, but got null/],
  ])('a body %s is refused with 400 and a reason', async (_, body, says) => {
    await expectChatRefused(body, { says })
  })

  test.each<[string, Buffer]>([
    ['a stray continuation byte', Buffer.from([0x80])],
    ['a sequence cut short', Buffer.from([0xe6, 0xbc])],
    ['an overlong slash', Buffer.from([0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['Latin-1', Buffer.from('é', 'latin1')],
  ])('a body with invalid UTF-8 (%s) is refused with 400 and a reason', async (_, bytes) => {
    const [before, after] = withFields({}).split(PROMPT)
    await expectChatRefused(Buffer.concat([Buffer.from(`${before}`), bytes, Buffer.from(`${after}`)]), {
      says: /UTF-8/,
    })
  })
})

describe('fields of the wrong type', () => {
  const SAMPLES = { string: PROMPT, number: 7, boolean: true, array: [[PROMPT]], object: { [PROMPT]: PROMPT } }
  const USAGE_IN_WORDS = { include_usage: PROMPT }
  type Kind = keyof typeof SAMPLES

  const FIELDS: readonly [accepted: Kind[], fields: string][] = [
    [['string'], 'model stop user'],
    [['number'], 'max_tokens max_completion_tokens temperature top_p n seed top_logprobs'],
    [['number'], 'presence_penalty frequency_penalty'],
    [['boolean'], 'stream logprobs parallel_tool_calls'],
    [['array'], 'messages tools'],
    [['object'], 'stream_options logit_bias response_format metadata'],
    [['string', 'object'], 'tool_choice'],
  ]

  test.each(FIELDS.flatMap(([accepted, fields]) => fields.split(' ').map((field) => ({ field, accepted }))))(
    'a value of the wrong type for the field $field is refused with 400 and the field’s name',
    async ({ field, accepted }) => {
      const wrong = Object.entries(SAMPLES).filter(([kind]) => !accepted.includes(kind as Kind))
      const answers = await Promise.all(wrong.map(([, value]) => chat(withFields({ [field]: value }))))
      const says = new RegExp(`'${field}' must be .+, but got `)
      for (const answer of answers) expectEnvelope(answer, { param: field, says })
      await expectRefusedOnTheBooks(...(answers as [RawAnswer]))
    },
  )

  test.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model'],
    ['null for its model', { model: null }, 'model'],
    ['an empty model', { model: '' }, 'model'],
    ['no messages', { messages: undefined }, 'messages'],
    ['null for its messages', { messages: null }, 'messages'],
    ['a number in its stop list', { stop: [PROMPT, 1] }, 'stop'],
    ['a string for a tool', { tools: [{ type: 'function' }, PROMPT] }, 'tools[1]'],
    ['1,025 tools', { tools: Array(1025).fill({ type: 'function' }) }, 'tools'],
    ['a string for include_usage', { stream: true, stream_options: USAGE_IN_WORDS }, 'stream_options.include_usage'],
    ['stream_options but no stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['stream_options and stream off', { stream: false, stream_options: {} }, 'stream_options'],
  ])('a request with %s is refused with 400 and the field’s name', async (_, fields, param) => {
    await expectChatRefused(withFields(fields), { param })
  })

  test('an optional field that is null counts as absent', async () => {
    const names = ['max_tokens', 'temperature', 'n', 'stream', 'stream_options', 'stop', 'tools', 'user', 'metadata']
    const answer = await chat(withFields(Object.fromEntries(names.map((name) => [name, null]))))
    expect(answer.status).toBe(200)
  })
})

describe('numbers out of range', () => {
  const outside = (field: string, bounds: string, ...literals: string[]) =>
    literals.map((literal): [string, string, RegExp] => [
      field,
      literal,
      new RegExp(`${bounds}.*, but got ${shown(literal)}`),
    ])
  /** A number as a message shows it. */
  const shown = (literal: string) => String(Number(literal)).replace('+', '\\+')

  test.each<[field: string, literal: string, says: RegExp]>([
    ...outside('temperature', 'between 0 and 2', '3', '-0.1', '1e30'),
    ...outside('top_p', 'between 0 and 1', '1.01', '-1'),
    ...outside('n', 'between 1 and 128', '0', '-1', '1.5', '129', '1e9'),
    ...outside('presence_penalty', 'between -2 and 2', '2.5'),
    ...outside('frequency_penalty', 'between -2 and 2', '-3'),
    ...outside('seed', 'an integer', '0.5', '1e30'),
    ...outside('top_logprobs', 'between 0 and 20', '21', '-1'),
    ...['max_tokens', 'max_completion_tokens'].flatMap((field) =>
      outside(field, 'an integer of at least 1', '-1', '0', '1.5', '1e30', '9007199254740992'),
    ),
  ])('the field %s with the value %s is refused with 400 and the bounds', async (field, literal, says) => {
    await expectChatRefused(withFields({ [field]: '@' }).replace('"@"', literal), { param: field, says })
  })

  test.each(['max_tokens', 'temperature', 'n', 'seed', 'of_the_future'])(
    'the field %s with the value 1e400 or -1e400 is refused with 400 as too large',
    async (field) => {
      for (const literal of ['1e400', '-1e400']) {
        const body = withFields({ [field]: '@' }).replace('"@"', literal)
        await expectChatRefused(body, { says: /number too large/ })
      }
    },
  )
})

describe('deep nesting and strange names', () => {
  const DEEP = 100_000
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const inContent = (json: string) => `{"model":"test-model","messages":[{"role":"user","content":${json}}]}`
  const inExtra = (json: string) => withFields({ guided_json: '@' }).replace('"@"', json)

  test.each<[string, string]>([
    ['arrays as the body', arrays(DEEP)],
    ['objects as the body', objects(DEEP)],
    ['arrays as a message’s content', inContent(arrays(DEEP))],
    ['objects as a message’s content', inContent(objects(DEEP))],
    ['arrays in a field that is passed on', inExtra(arrays(DEEP))],
    ['arrays in an unknown field', inExtra(arrays(DEEP)).replace('guided_json', 'of_the_future')],
    ['objects in a tool', inExtra(objects(DEEP)).replace('guided_json', 'tools')],
  ])('100,000 levels of %s are refused with 400 and the limit', async (_, body) => {
    await expectChatRefused(body, { says: /nested more than 64 levels/ })
  })

  test('a body of 64 nested levels is passed on, and one of 65 is refused', async () => {
    expect((await chat(inExtra(objects(63)))).status).toBe(200)
    expect(JSON.stringify(upstream.requests.at(-1)?.body.guided_json)).toBe(objects(63))
    await expectChatRefused(inExtra(objects(64)), { says: /nested more than 64 levels/ })
    await expectChatRefused(inExtra(arrays(64)), { says: /nested more than 64 levels/ })
  })

  const EVIL = '{"polluted":"yes"}'
  test.each<[string, string]>([
    ['at the top', `{"__proto__":${EVIL},${withFields({}).slice(1)}`],
    ['in escaped letters', `{"\\u005f_proto__":${EVIL},${withFields({}).slice(1)}`],
    ['with null', `{"__proto__":null,${withFields({}).slice(1)}`],
    ['in a message', inContent(`"x","__proto__":${EVIL}`)],
    ['in a content part', inContent(`[{"type":"text","text":"x","__proto__":${EVIL}}]`)],
    ['in metadata', withFields({ metadata: '@' }).replace('"@"', `{"a":{"b":[{"__proto__":${EVIL}}]}}`)],
    ['in a tool', withFields({ tools: '@' }).replace('"@"', `[{"type":"function","__proto__":${EVIL}}]`)],
    ['under constructor', inExtra(`{"constructor":{"__proto__":${EVIL}}}`)],
  ])('a field named __proto__ %s is refused with 400 and changes no other object', async (_, body) => {
    await expectChatRefused(body, { says: /'__proto__'/ })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('a field named like a part of every JavaScript object is treated like any other field', async () => {
    const fields = { constructor: { prototype: { polluted: 'yes' } }, toString: 'x', hasOwnProperty: 1, valueOf: null }
    expect((await chat(withFields({ guided_json: fields }))).status).toBe(200)
    expect(upstream.requests.at(-1)?.body.guided_json).toEqual(fields)
    const flat = { constructor: 'x', toString: 'x', hasOwnProperty: 1 }
    expect((await chat(withFields({ metadata: { ...flat, valueOf: null } }))).status).toBe(200)
    expect(upstream.requests.at(-1)?.body.metadata).toEqual(flat)
    await expectChatRefused(withFields(fields), { param: 'constructor', says: /not passed on/ })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('malformed messages', () => {
  const user = { role: 'user', content: PROMPT }
  const parts = (...content: unknown[]) => [{ role: 'user', content }]
  const text = (words?: unknown) => ({ type: 'text', text: words })

  test.each<[string, unknown, string]>([
    ['no messages', [], 'messages'],
    ['10,001 messages', Array(10_001).fill(user), 'messages'],
    ['null for a message', [user, null], 'messages[1]'],
    ['a string for a message', [PROMPT], 'messages[0]'],
    ['an array for a message', [[user]], 'messages[0]'],
    ['a message without a role', [{ content: PROMPT }], 'messages[0].role'],
    ['a null role', [user, { role: null, content: PROMPT }], 'messages[1].role'],
    ['an unknown role', [{ role: PROMPT, content: PROMPT }], 'messages[0].role'],
    ['the role constructor', [{ role: 'constructor', content: PROMPT }], 'messages[0].role'],
    ['a role in capitals', [{ role: 'User', content: PROMPT }], 'messages[0].role'],
    ['a message without content', [{ role: 'user' }], 'messages[0].content'],
    ['null content', [{ role: 'user', content: null }], 'messages[0].content'],
    ['a number as content', [{ role: 'system', content: 5 }], 'messages[0].content'],
    ['an object as content', [{ role: 'assistant', content: { [PROMPT]: PROMPT } }], 'messages[0].content'],
    ['a tool’s answer without content', [user, { role: 'tool', tool_call_id: 'x' }], 'messages[1].content'],
    ['a string for a content part', parts(PROMPT), 'messages[0].content[0]'],
    ['null for a content part', parts(null), 'messages[0].content[0]'],
    ['a content part without a type', parts({ text: PROMPT }), 'messages[0].content[0].type'],
    ['a content part with a number as its type', parts({ type: 1, text: PROMPT }), 'messages[0].content[0].type'],
    ['a text part without text', parts(text(PROMPT), text()), 'messages[0].content[1].text'],
    ['a text part with an object as its text', parts(text({ [PROMPT]: PROMPT })), 'messages[0].content[0].text'],
  ])('a conversation with %s is refused with 400 and the place of the mistake', async (_, messages, param) => {
    await expectChatRefused(withFields({ messages }), { param, says: /must (be|have) / })
  })
})

const OF_OBJECTS = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
const OTHER_MODELS = [
  'no-such-model',
  'Test-Model',
  ' test-model',
  'test-model\u0000',
  '../test-model',
  'm'.repeat(100_000),
]

test.each([...OTHER_MODELS, ...OF_OBJECTS])(
  'an unknown model is refused with 404 and at most 100 characters of its name (case %#)',
  async (model) => {
    const row = await expectChatRefused(withFields({ model }), {
      status: 404,
      code: 'model_not_found',
      param: 'model',
      says: /^The model '.{1,101}' does not exist here/s,
    })
    expect(row.model).toBeUndefined()
  },
)

describe('bodies of more than 4 MiB', () => {
  const ofSize = (bytes: number) => {
    const frame = withFields({ grammar: '' })
    return frame.replace('"grammar":""', `"grammar":"${'x'.repeat(bytes - frame.length)}"`)
  }

  test('a body of exactly 4 MiB is accepted, and one byte more is a 413 with the limit', async () => {
    expect((await chat(ofSize(4 * MIB))).status).toBe(200)
    const refusal = { status: 413, code: 'request_too_large' }
    await expectChatRefused(ofSize(4 * MIB + 1), { ...refusal, says: /4194305 bytes.*at most 4194304 are accepted/ })
    await expectChatRefused(ofSize(20_000_000), refusal)
  })

  test('7 MB of garbage are a 413 at the chat endpoint and a 405 at GET /v1/models', async () => {
    const body = Buffer.alloc(7_000_000, 0xff)
    await expectChatRefused(body, { status: 413, code: 'request_too_large' })
    const headers = { ...bearer(), ...JSON_TYPE }
    const models = await rawCall(gateway.baseUrl, { path: '/v1/models', headers, body })
    await expectRefusal(models, { status: 405, code: 'method_not_allowed', allow: 'GET, HEAD' })
  })
})

describe('content types', () => {
  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['text/plain', 'text/plain;charset=UTF-8'],
    ['for a web form', 'application/x-www-form-urlencoded'],
    ['multipart/form-data', 'multipart/form-data; boundary=x'],
    ['application/octet-stream', 'application/octet-stream'],
    ['application/jsonp', 'application/jsonp'],
    ['application/json-seq', 'application/json-seq'],
    ['the word json', 'json'],
    ['a list of two types', 'text/plain, application/json'],
    ['5,000 characters long', 'x/'.padEnd(5_000, 'y')],
  ])('a Content-Type that is %s is refused with 415', async (_, type) => {
    const answer = await chat(withFields({}), type === undefined ? {} : { 'Content-Type': type })
    await expectRefusal(answer, { status: 415, code: 'unsupported_media_type', says: /must be application\/json/ })
    expect(answer.body.length).toBeLessThan(500)
  })

  test('the type of a body that only CloudFront may replace is believed to nobody else', async () => {
    const replaced = { 'Content-Type': 'application/octet-stream', [EDGE_HEADERS.type]: 'application/json' }
    expect((await chat(withFields({}), replaced)).status).toBe(415)
  })

  test.each<[string, string | Buffer, Record<string, string>]>([
    ['with gzip', gzipSync(withFields({})), { 'Content-Encoding': 'gzip' }],
    ['with gzip, without saying so', gzipSync(withFields({})), {}],
    ['with deflate', deflateSync(withFields({})), { 'Content-Encoding': 'deflate' }],
    ['with Brotli', brotliCompressSync(withFields({})), { 'Content-Encoding': 'br' }],
    ['twice', gzipSync(gzipSync(withFields({}))), { 'Content-Encoding': 'gzip, gzip' }],
    ['by its header only', withFields({}), { 'Content-Encoding': 'zstd' }],
    ['by gzip’s first byte, as text', `\u001f\ufffd${withFields({})}`, {}],
  ])(
    'a body that is compressed %s is refused with 415 and the advice to send it uncompressed',
    async (_, body, how) => {
      const answer = await chat(body, { ...JSON_TYPE, ...how })
      await expectRefusal(answer, { status: 415, code: 'unsupported_media_type', says: /Send it uncompressed/ })
    },
  )

  test.each([
    { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' },
    { 'Content-Type': 'Application/JSON; charset=utf-8' },
    { 'Content-Type': 'application/json;charset=UTF-8' },
    { 'Content-Type': 'application/vnd.x+json' },
  ])('a body with the headers %j is accepted as JSON', async (headers) => {
    expect((await chat(withFields({}), headers)).status).toBe(200)
  })
})

describe('malformed keys', () => {
  const LETTERS = 'A'.repeat(43)
  const TOKEN = `${BRAND.keyPrefix}${LETTERS}`
  const bearing = (token: string) => ({ Authorization: `Bearer ${token}` })
  type Presented = [how: string, headers: Record<string, string | string[]>]
  const MISSING: Presented[] = [
    ['that is missing', {}],
    ['that is empty', { Authorization: '' }],
    ['in Basic authentication', { Authorization: `Basic ${Buffer.from(`user:${TOKEN}`).toString('base64')}` }],
    ['that is missing after Bearer', { Authorization: 'Bearer' }],
    ['of blanks', bearing('   ')],
    ['without the word Bearer', { Authorization: TOKEN }],
  ]
  const MALFORMED: Presented[] = [
    ['given twice', bearing(`${TOKEN} ${TOKEN}`)],
    ['given twice with a comma', bearing(`${TOKEN},Bearer ${TOKEN}`)],
    ['in two headers', { Authorization: [`Bearer ${secret}`, `Bearer ${secret}`] }],
    ['with another prefix', bearing(`sk-proj-${LETTERS}`)],
    ['with the prefix of an admin key', bearing(`${BRAND.adminKeyPrefix}${LETTERS}`)],
    ['with its prefix in capitals', bearing(`SVC_LIVE_${LETTERS}`)],
    ['that is one character too short', bearing(TOKEN.slice(0, -1))],
    ['that is one character too long', bearing(`${TOKEN}A`)],
    ['with a hyphen', bearing(`${TOKEN.slice(0, -1)}-`)],
    ['with an accented letter', bearing(`${TOKEN.slice(0, -1)}\u00e9`)],
    ['in quotes', bearing(`"${TOKEN}"`)],
    ['in the header X-Api-Key with a word before it', { 'X-Api-Key': `Bearer ${TOKEN}` }],
    ['in the header X-Api-Key beside another in Authorization', { 'X-Api-Key': TOKEN, ...bearing('other') }],
    ['of 8 KB', bearing(BRAND.keyPrefix.padEnd(8_000, 'A'))],
    ['after 8 KB of blanks', bearing(`${' '.repeat(8_000)}A B`)],
  ]
  const ENDPOINTS: RawCall[] = [
    { headers: JSON_TYPE, body: withFields({}) },
    { method: 'GET', path: '/v1/models' },
    { method: 'GET', path: '/v1/key/introspect' },
    { method: 'GET', path: '/v1/usage/req_00000000000000000000000000' },
    { method: 'GET', path: '/v1/usage' },
    { method: 'GET', path: '/v1/credits' },
  ]
  const NO_KEY = "You didn't provide an API key."
  const WRONG_KEY = 'Incorrect API key provided.'
  const NONSENSE = bearing('nonsense')
  const at = (to: TestGateway, endpoint: RawCall, headers: object) =>
    rawCall(to.baseUrl, { ...endpoint, headers: { ...endpoint.headers, ...headers } })

  /** Says no more than that the key is no good. */
  function expectStranger(answer: RawAnswer, sample: RawAnswer, words = WRONG_KEY): void {
    expect(answer.status).toBe(401)
    expect(answer.body).toBe(sample.body)
    const error = { type: 'invalid_request_error', param: null, code: 'invalid_api_key' }
    expect(JSON.parse(answer.body)).toEqual({ error: { ...error, message: expect.stringContaining(words) } })
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9A-Z]{26}$/)
    expect(answer.headers['x-svc-cost']).toBe('0')
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([])
    expect(Object.keys(answer.headers).sort()).toEqual(Object.keys(sample.headers).sort())
  }

  test.each([
    ...MISSING.map(([how, headers]) => ({ how, headers, words: NO_KEY, sample: {} })),
    ...MALFORMED.map(([how, headers]) => ({ how, headers, words: WRONG_KEY, sample: NONSENSE })),
  ])('a key $how is a 401 in OpenAI’s words, without one call to DynamoDB', async ({ headers, words, sample }) => {
    await expectGoodRequest()
    const calls = gateway.calls.length
    for (const endpoint of ENDPOINTS) {
      expectStranger(await at(gateway, endpoint, headers), await at(gateway, endpoint, sample), words)
    }
    expect(gateway.calls.slice(calls)).toEqual([])
    await expectGoodRequest()
  })

  test('a malformed key costs even a cold instance no call to DynamoDB', async () => {
    const cold = await openFor(catalogFor(upstream.url), { onSameTables: gateway })
    for (const endpoint of ENDPOINTS) {
      for (const [, headers] of [...MISSING, ...MALFORMED]) expect((await at(cold, endpoint, headers)).status).toBe(401)
    }
    expect(cold.calls.map(({ name }) => name)).toEqual([])
  })

  test('an unknown key and a revoked key are answered exactly like a malformed one', async () => {
    const revoked = await gateway.issue()
    expect((await gateway.post(revoked.secret, HELLO)).status).toBe(200)
    await revokeKey(gateway.tables)(revoked.key.id, actAt())
    for (const endpoint of ENDPOINTS) {
      const sample = await at(gateway, endpoint, NONSENSE)
      for (const token of [TOKEN, revoked.secret]) expectStranger(await at(gateway, endpoint, bearing(token)), sample)
    }
    await expectGoodRequest()
  })

  test('the word Bearer is accepted in any case and with any number of blanks', async () => {
    for (const header of [`bearer ${secret}`, `BEARER   ${secret}`, `Bearer ${secret}  `]) {
      expect((await at(gateway, ENDPOINTS[0] as RawCall, { Authorization: header })).status).toBe(200)
    }
  })
})

describe('unknown paths and methods', () => {
  const NOT_FOUND = { status: 404, code: 'not_found' }
  const NO_MODEL = { status: 404, code: 'model_not_found', param: 'model' }
  const notAllowed = (allow: string) => ({ status: 405, code: 'method_not_allowed', allow })

  const LONG = 'x'.repeat(8_000)
  const NO_ROW = '/v1/usage/req_00000000000000000000000000'
  /** The paths that are refused alike. */
  const CALLS: readonly [methods: string, refusal: Refusal, paths: string][] = [
    ['POST', NOT_FOUND, '/ /v1/images/generations /v1/audio/speech /chat/completions /v1/chat /v1/chat/'],
    ['POST', NOT_FOUND, '/v1/chat/completions// /v1/chat/completions/1 /v1/chat//completions /V1/chat/completions'],
    ['POST', NOT_FOUND, '/v1/chat/completions%00 /v1/chat%2fcompletions'],
    ['GET', NOT_FOUND, `/v1 /v1/ /favicon.ico /v1/usage/a/b /v1/usage/% /v1/usage/%00 ${NO_ROW} /${LONG}`],
    ['GET', NOT_FOUND, [2_048, 2_049, 8_000].map((length) => `/v1/usage/${'x'.repeat(length)}`).join(' ')],
    ['GET', NOT_FOUND, '// //v1/models //elsewhere/v1/models ///v1/models //:99999/v1/models /v1/models//'],
    ['GET', NOT_FOUND, '/\\ /\\elsewhere/v1/models'],
    ['GET', NO_MODEL, `/v1/models/none /v1/models/% /v1/models/%ff /v1/models/%00 /v1/models/${LONG}`],
    ['GET', NO_MODEL, '/v1/models/..%2f /v1/models/..%2f..%2fkey%2fintrospect /v1/models/%252e%252e'],
    ['GET', NO_MODEL, '/v1/models//test-model /v1/models/test-model// /v1/models/__proto__'],
    ['GET PUT DELETE PATCH PROPFIND', notAllowed('POST'), '/v1/chat/completions'],
    ['POST PUT TRACE', notAllowed('GET, HEAD'), '/v1/models'],
    ['POST', notAllowed('GET, HEAD'), '/v1/key/introspect /v1/usage /v1/credits'],
    ['DELETE', notAllowed('GET, HEAD'), `/v1/models/test-model ${NO_ROW}`],
  ]
  const named = CALLS.flatMap(([methods, refusal, paths]) =>
    methods.split(' ').flatMap((method) => paths.split(' ').map((path) => ({ method, path, refusal }))),
  ).map((it) => {
    const shown = it.path.length > 50 ? `${it.path.slice(0, 20)}… (${it.path.length} characters)` : it.path
    return { ...it, call: `${it.method} ${shown}` }
  })

  test.each(named)('the call $call is refused with $refusal.status', async ({ method, path, refusal }) => {
    const served = upstream.requests.length
    const headers = { ...bearer(), ...JSON_TYPE }
    const body = method === 'GET' || method === 'TRACE' ? undefined : withFields({})
    const answer = await rawCall(gateway.baseUrl, { method, path, headers, body })
    expect(upstream.requests.length).toBe(served)
    await expectRefusal(answer, refusal)
    expect(answer.body.length).toBeLessThan(700)
  })

  test.each<[path: string, status: number, allow: string | undefined]>([
    ['/v1/chat/completions', 405, 'POST'],
    ['/v1/models/none', 404, undefined],
    ['/v1/nothing', 404, undefined],
  ])('the call HEAD %s gets the headers of its refusal and no body', async (path, status, allow) => {
    const answer = await rawCall(gateway.baseUrl, { method: 'HEAD', path, headers: bearer() })
    expect([answer.status, answer.headers.allow, answer.body]).toEqual([status, allow, ''])
    await expectRefusedOnTheBooks(answer)
  })

  test.each(['/v1/models', '/v1/models/test-model', '/v1/key/introspect'])(
    'the call HEAD %s gets the status and the headers of GET, no body, and its row',
    async (path) => {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => rawCall(gateway.baseUrl, { method, path, headers: bearer() })),
      )
      expect([head?.status, head?.body]).toEqual([200, ''])
      const named = (answer?: RawAnswer) =>
        Object.keys(answer?.headers ?? {}).filter((name) => /^(x-|rate|content-ty)/.test(name))
      expect(named(head)).toEqual(named(get))
      expect(await gateway.readRow(head?.headers['x-request-id'] as string)).toMatchObject({ outcome: 'completed' })
    },
  )

  test.each([
    ['GET', '/v1/models'],
    ['GET', '/v1/models/test-model'],
    ['GET', '/v1/key/introspect'],
    ['POST', '/v1/chat/completions'],
  ])('the call %s %s with a slash at its end is answered as without', async (method, path) => {
    const body = method === 'POST' ? withFields({}) : undefined
    const headers = { ...bearer(), ...JSON_TYPE }
    const answer = await rawCall(gateway.baseUrl, { method, path: `${path}/`, headers, body })
    const plain = await rawCall(gateway.baseUrl, { method, path, headers, body })
    expect([answer.status, Object.keys(JSON.parse(answer.body))]).toEqual([200, Object.keys(JSON.parse(plain.body))])
  })

  test('an unknown path or method is refused without a key, too, and without a call to DynamoDB', async () => {
    await expectGoodRequest()
    const calls = gateway.calls.length
    expect((await rawCall(gateway.baseUrl, { method: 'GET', path: '/v1/nothing' })).status).toBe(404)
    expect((await rawCall(gateway.baseUrl, { method: 'PUT' })).status).toBe(405)
    expect(gateway.calls.slice(calls)).toEqual([])
  })
})

test('a client that leaves in the middle of its body leaves no hold, and its prompt is not printed', async () => {
  const complaints = jest.spyOn(console, 'error').mockImplementation(() => {})
  const served = upstream.requests.length
  const { port } = new URL(gateway.baseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\n`
  const gone = new Promise((resolve) => socket.once('close', resolve))
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"model":"${PROMPT}`, () =>
    socket.destroy(),
  )
  await gone
  await expectGoodRequest()
  expect(upstream.requests.length).toBe(served + 1)
  await until(async () => Object.keys((await gateway.readKey(key.id)).holds).length === 0)
  expect(JSON.stringify(complaints.mock.calls)).not.toContain(PROMPT)
  complaints.mockRestore()
})

test('48 bad requests at once are all refused, and the books balance', async () => {
  const bodies = ['{', '[]', '', withFields({ n: 0 }), withFields({ model: 'none' }), withFields({ messages: [] })]
  const answers = await Promise.all(Array.from({ length: 48 }, (_, i) => chat(bodies[i % bodies.length])))
  expect(answers.filter(({ status }) => status !== 400 && status !== 404)).toEqual([])
  const after = await gateway.readKey(key.id)
  expect(after.holds).toEqual({})
  expect(booksBalance(after)).toBe(true)
  await expectGoodRequest()
})
