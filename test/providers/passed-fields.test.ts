import { beforeEach, describe, expect, test } from '@jest/globals'
import { HELLO } from '../support/gateway.ts'
import { openBoth } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { ALIASED, FORBIDDEN, PASSED, WRITTEN_BY_US } from './support/field-samples.ts'
import { randomBody } from './support/random-body.ts'

// More of them: FIELD_REQUESTS=2000 npm run -s jest -- passed-fields
const REQUESTS = Number(process.env.FIELD_REQUESTS ?? 100)

async function open(catalog: { model?: object; provider?: object }) {
  const both = await openBoth(catalog)
  const { secret } = await both.gateway.issue({ rpm: 60_000, credits: '1000' })
  return { ...both, secret }
}

type Opened = Awaited<ReturnType<typeof open>>

const plain = await open({})
beforeEach(() => {
  plain.upstream.requests.length = 0
})

async function ask({ gateway, upstream, secret }: Opened, request: object) {
  upstream.reply = say('Hello')
  const sentBefore = upstream.requests.length
  const response = await gateway.post(secret, { ...HELLO, ...request })
  const text = await response.text()
  const { error } = JSON.parse(text) as { error?: { param: string; message: string } }
  return {
    status: response.status,
    error,
    length: text.length,
    requestId: response.headers.get('x-request-id'),
    dropped: response.headers.get('x-svc-dropped-fields'),
    sent: upstream.requests.slice(sentBefore).map(({ body }) => body)[0],
  }
}

test.each(Object.entries(PASSED))(
  'the field %s, which cannot change the price, reaches the upstream unchanged',
  async (name, value) => {
    const { status, error, sent, dropped } = await ask(plain, { [name]: value })
    expect([status, error, dropped]).toEqual([200, undefined, null])
    expect(sent?.[name]).toEqual(value)
    expect(Object.keys(sent ?? {}).sort()).toEqual([...new Set([...WRITTEN_BY_US, 'messages', name])].sort())
  },
)

test.each(Object.entries(ALIASED))(
  'the field %s reaches the upstream as a name that is the same for one key and another for each',
  async (name, value) => {
    const other = { ...plain, secret: (await plain.gateway.issue({ rpm: 60_000, credits: '1000' })).secret }
    const sent: unknown[] = []
    for (const by of [plain, plain, other]) sent.push((await ask(by, { [name]: value })).sent?.[name])
    expect(sent[0]).toMatch(/^[\w-]{43}$/)
    expect([sent[1] === sent[0], sent[2] === sent[0]]).toEqual([true, false])
    expect(sent[2]).toMatch(/^[\w-]{43}$/)
  },
)

test.each([
  ['service_tier', 'auto'],
  ['service_tier', 'on_demand'],
  ['modalities', ['text']],
  ['tools', []],
  ['stream_options', null],
])('the field %s is accepted with the value %j, which is billed at the standard price', async (name, value) => {
  expect((await ask(plain, { [name]: value })).status).toBe(200)
})

test.each(['outlines', 'xgrammar:no-fallback', '/srv/plugin.so', { a: 1 }, null])(
  'guided_decoding_backend, which names code on the provider’s machine, is left out: %j',
  async (guided_decoding_backend) => {
    const { status, sent } = await ask(plain, { guided_decoding_backend, guided_regex: 'a+' })
    expect([status, Object.keys(sent ?? {}).filter((name) => name.startsWith('guided'))]).toEqual([
      200,
      ['guided_regex'],
    ])
  },
)

test.each(Object.entries(FORBIDDEN))(
  'the field %s, which may change the price, is left out if it is null, and else a 400 that says how to allow it',
  async (name, value) => {
    const { status, error, sent } = await ask(plain, { [name]: value })
    expect([status, error?.param, sent]).toEqual([400, name, undefined])
    expect(error?.message).toMatch(new RegExp(`^(?:Unknown field \`${name}\`|'${name}' is not passed on)`))
    expect(error?.message).toMatch(
      'is not passed on by this gateway, because it may change what the provider bills. ' +
        'Leave it out; the operator of this gateway can allow it.',
    )
    const unset = await ask(plain, { [name]: null })
    expect([unset.status, unset.dropped, Object.keys(unset.sent ?? {}).includes(name)]).toEqual([200, null, false])
  },
)

test.each<[string, unknown, string, string?]>([
  ['service_tier', 'gold', 'default'],
  ['service_tier', {}, 'default'],
  ['modalities', ['text', 'audio'], "['text']"],
  ['modalities', 'audio', "['text']"],
  ['tools', [PASSED.tools[0], { type: 'web_search' }], "'function'", 'tools[1]'],
  ['tools', [{ googleSearch: {} }], "'function'", 'tools[0]'],
  ['reasoning_effort', 'ultra', 'xhigh'],
  ['thinking', { type: 'deep' }, 'adaptive', 'thinking.type'],
])(
  'the field %s is refused by its value, and the message says which values are allowed: %j',
  async (name, value, words, param = name) => {
    const { status, error, sent } = await ask(plain, { [name]: value })
    expect([status, error?.param, sent]).toEqual([400, param, undefined])
    expect(error?.message).toContain(words)
    expect(error?.message).toMatch(/the operator of this gateway can allow (it|other values)/)
  },
)

test('a field that may change the price is refused inside stream_options', async () => {
  const options = { include_usage: true, continuous_usage_stats: true }
  const { status, error } = await ask(plain, { stream: true, stream_options: options })
  expect([status, error?.param]).toEqual([400, 'stream_options.continuous_usage_stats'])
})

test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'])(
  'the field %s, which every JavaScript object inherits, is refused with 400',
  async (name) => {
    const { status, error, sent } = await ask(plain, { [name]: { a: 1 } })
    expect([status, error?.param, sent]).toEqual([400, name, undefined])
  },
)

test('a field with a name of 3 million characters is refused with a short message', async () => {
  const { status, error, length } = await ask(plain, { ['x'.repeat(3_000_000)]: 1 })
  expect([status, error?.param]).toEqual([400, 'x'.repeat(100)])
  expect(length).toBeLessThan(1_000)
})

describe('the operator’s settings', () => {
  const asked = { plugins: [{ id: 'web' }], service_tier: 'priority', models: ['a', 'b'] }

  test('an operator can allow fields for a provider or for a model, with any value', async () => {
    const both = await open({
      provider: { allowFields: ['plugins', 'service_tier'] },
      model: { allowFields: ['models'] },
    })
    expect((await ask(both, asked)).sent).toMatchObject(asked)
    const { status, error } = await ask(both, { ...asked, route: 'fallback' })
    expect([status, error?.param]).toEqual([400, 'route'])
  })

  test('an operator cannot allow fields that the gateway writes itself', async () => {
    const both = await open({ provider: { allowFields: ['max_tokens', 'stream', 'model'] } })
    const { sent } = await ask(both, { max_tokens: 7, stream: false })
    expect(sent).toMatchObject({ max_tokens: 7, stream: false, model: 'upstream-model' })
  })

  test('an operator can have unknown fields left out, and the answer names them', async () => {
    const both = await open({ provider: { unknownFields: 'drop', allowFields: ['models'] } })
    const { status, sent, dropped } = await ask(both, { ...asked, top_k: 4, 'odd name': 1, route: null })
    expect([status, dropped]).toEqual([200, 'plugins, service_tier, and 1 more'])
    expect(Object.keys(sent ?? {}).sort()).toEqual([...WRITTEN_BY_US, 'messages', 'models', 'top_k'].sort())
    expect((await ask(both, { top_k: 4 })).dropped).toBeNull()
  })

  test('the header that names the fields that were left out has a bounded length', async () => {
    const both = await open({ provider: { unknownFields: 'drop' } })
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`field_${i}`, i]))
    const { status, dropped, requestId } = await ask(both, many(390))
    expect(status).toBe(200)
    expect(dropped).toMatch(/^field_0, .*, and 374 more$/)
    expect(dropped?.length).toBeLessThan(2_000)
    expect((await both.gateway.readRow(requestId)).droppedFields).toBe(dropped?.slice(0, 200))
    expect((await ask(both, many(50_000))).error?.message).toContain('at most 400 fields')
  })
})

const ALLOWED = new Set([...Object.keys(PASSED), ...Object.keys(ALIASED), ...WRITTEN_BY_US, 'messages'])

/** The names of fields that may change the price, by name or by value. */
function dearFieldsOf(sent: Record<string, unknown>): string[] {
  const { service_tier: tier = null, modalities, tools } = sent
  return [
    ...Object.keys(sent).filter((name) => !ALLOWED.has(name)),
    ...([null, 'auto', 'default', 'on_demand'].includes(tier as string | null) ? [] : ['service_tier']),
    ...([modalities ?? []].flat().every((modality) => modality === 'text') ? [] : ['modalities']),
    ...(JSON.stringify(tools ?? []).includes('web_search') ? ['tools'] : []),
  ]
}

test.each(['refuse', 'drop'])(
  'no random request sends the upstream a field that is not allowed (unknownFields: %s)',
  async (unknownFields) => {
    const both = await open({ provider: { unknownFields } })
    const outcomes = { accepted: 0, refused: 0 }
    for (let seed = 1; seed <= REQUESTS; seed++) {
      const { status, sent } = await ask(both, randomBody(seed))
      expect([seed, [200, 400].includes(status)]).toEqual([seed, true])
      outcomes[status === 200 ? 'accepted' : 'refused'] += 1
      if (!sent) continue
      expect([seed, dearFieldsOf(sent)]).toEqual([seed, []])
    }
    // Enough requests were accepted and enough refused for this to prove something.
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(REQUESTS / 15)
  },
)
