import { beforeEach, describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../../layers/catalog/parse-catalog.ts'
import { sealedBy } from '../../../layers/gateway/wire/chat/sealed-content.ts'
import { saying as anthropicSaying } from '../../providers/anthropic/anthropic-fixtures.ts'
import { answering, message, USAGE } from '../../providers/responses/responses-upstream.ts'
import { openSealingUpstream } from '../../support/sealing-upstream.ts'
import { openFor, openUpstream } from '../../support/stack.ts'
import { type Reply, say, status } from '../../support/upstream.ts'

type Item = Record<string, unknown>

const COMPACT = '/v1/responses/compact'
const COUNT = '/v1/responses/input_tokens'

const one = await openSealingUpstream()
const two = await openSealingUpstream()
const chat = await openUpstream(say('They want a file.'))
const claude = await openUpstream(anthropicSaying('They want a file.'))

const to = (provider: string, more: object = {}) => ({ provider, model: 'm', ...more })
const MODEL = { contextLength: 100_000, maxOutputTokens: 1000, price: { input: '1', output: '2' } }
const dear = { priority: 1, cost: { input: '3', output: '6' } }
const responses = { type: 'openai', contract: 'responses' }
const providers = {
  one: { ...responses, baseUrl: one.url },
  two: { ...responses, baseUrl: two.url },
  chat: { type: 'openai', baseUrl: chat.url },
  claude: { type: 'anthropic', baseUrl: claude.url },
}
const models = [
  { id: 'one', routes: [to('one')] },
  { id: 'both', routes: [to('one'), to('two')] },
  { id: 'mixed', routes: [to('chat'), to('two', { priority: 1 })] },
  { id: 'dear', routes: [to('one'), to('two', dear)] },
  { id: 'chat', routes: [to('chat')] },
  { id: 'claude', routes: [to('claude')] },
]
const gateway = await openFor(requireCatalog({ providers, models: models.map((model) => ({ ...MODEL, ...model })) }))

const HISTORY = [
  { role: 'user', content: 'Write a file.' },
  { type: 'function_call', call_id: 'c1', name: 'write', arguments: '{"path":"a.txt"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'done' },
  { role: 'assistant', content: 'It is written.' },
  { role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
]
const USERS = [
  { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Write a file.' }] },
  { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'And now?' }] },
]

const compaction = (content: string) => ({ type: 'compaction', id: 'cmp_1', encrypted_content: content })
const compacting: Reply = (response, request) =>
  status(200, {
    id: 'resp_c',
    object: 'response.compaction',
    created_at: 1,
    output: [HISTORY[0], compaction(one.seal('summary'))],
    usage: { ...USAGE, input_tokens: 1000, output_tokens: 50, total_tokens: 1050 },
  })(response, request)

const ask = (path: string, body: object, credits = '10') => gateway.ask(JSON.stringify(body), { path, credits })
const sent = ({ requests }: { readonly requests: readonly { readonly body: Item }[] }) => requests.at(-1)?.body ?? {}

beforeEach(() => {
  for (const upstream of [one, two]) Object.assign(upstream, { reply: upstream.answer })
  for (const upstream of [one, two, chat, claude]) upstream.requests.length = 0
})

describe('a compaction', () => {
  test('by a provider of Responses is its own, charged by its counts, and only it can read the item', async () => {
    one.reply = compacting
    const asked = { model: 'one', input: HISTORY, instructions: 'Be kind.', prompt_cache_key: 'k' }
    const { status: code, text, row } = await ask(COMPACT, asked)
    const told = JSON.parse(text)
    expect([code, told]).toMatchObject([200, { object: 'response.compaction', usage: { input_tokens: 1000 } }])
    expect(told.output).toEqual([HISTORY[0], compaction(sealedBy('one', one.seal('summary')))])
    expect(row).toMatchObject({ endpoint: 'responses.compact', cost: 1_100_000n, usageSource: 'upstream' })
    expect(Object.keys(sent(one)).toSorted()).toEqual(['input', 'instructions', 'model', 'prompt_cache_key'])
    expect(sent(one).input).toEqual(HISTORY)

    one.reply = one.answer
    for (let i = 0; i < 6; i++) {
      const next = await ask('/v1/responses', { model: 'both', input: [...told.output, HISTORY[4]] })
      expect([next.status, next.response.headers.get('x-svc-provider')]).toEqual([200, 'one'])
    }
    expect(sent(one).input).toEqual([HISTORY[0], compaction(one.seal('summary')), HISTORY[4]])
  })

  test.each([
    ['chat', chat],
    ['claude', claude],
  ])('at %s is a summary by the model, which every provider reads afterwards', async (model, upstream) => {
    const { status: code, text, row } = await ask(COMPACT, { model, input: HISTORY, instructions: 'Be kind.' })
    const told = JSON.parse(text)
    expect([code, row.endpoint, row.outcome, row.cost > 0n]).toEqual([200, 'responses.compact', 'completed', true])
    const { encrypted_content: packed } = told.output.at(-1)
    expect(told.output).toMatchObject([...USERS, { type: 'compaction', id: expect.stringMatching(/^cmp_/) }])
    const prompt = JSON.stringify(sent(upstream))
    for (const words of ['Write a file.', 'write', 'done', 'And now?', 'Write a summary', 'Be kind.']) {
      expect(prompt).toContain(words)
    }
    expect([prompt.includes('tool_calls'), prompt.includes('tool_use')]).toEqual([false, false])

    for (const [next, reader] of [
      ['chat', chat],
      ['claude', claude],
      ['one', one],
    ] as const) {
      const again = await ask('/v1/responses', { model: next, input: [...told.output, HISTORY[4]] })
      expect([next, again.status]).toEqual([next, 200])
      expect(JSON.stringify(sent(reader))).toContain('They want a file.')
      expect(JSON.stringify(sent(reader))).not.toContain(packed)
    }
    const twice = JSON.parse((await ask(COMPACT, { model, input: told.output })).text)
    expect(twice.output.filter(({ type }: Item) => type === 'message')).toHaveLength(2)
  })

  test('that brings no summary loses nothing', async () => {
    chat.reply = say('')
    const told = JSON.parse((await ask(COMPACT, { model: 'chat', input: HISTORY })).text)
    chat.reply = say('They want a file.')
    await ask('/v1/responses', { model: 'chat', input: told.output })
    expect(JSON.stringify(sent(chat))).toContain('It is written.')
  })

  test('is a summary where the upstream has no compaction, or the credits do not cover all that it may write', async () => {
    one.reply = (response, request) =>
      (Array.isArray(request.body.include) ? answering([message('They want a file.')]) : status(404, {}))(
        response,
        request,
      )
    const told = JSON.parse((await ask(COMPACT, { model: 'one', input: HISTORY })).text)
    expect(told.output).toMatchObject([...USERS, { type: 'compaction' }])
    expect(one.requests).toHaveLength(2)
    await ask(COMPACT, { model: 'one', input: HISTORY }, '0.002')
    expect(one.requests).toHaveLength(3)
    expect(Number(sent(one).max_output_tokens)).toBeLessThan(1000)
  })

  test('without a count costs all that it may have cost', async () => {
    one.reply = status(200, { object: 'response.compaction', output: [compaction(one.seal('x'))] })
    const { row } = await ask(COMPACT, { model: 'one', input: 'Hello' })
    expect(row).toMatchObject({ completionTokens: 1000, usageSource: 'estimate' })
  })

  test.each<[string, Reply]>([
    ['no items', status(200, { object: 'response.compaction', output: [] })],
    ['an error', status(500, {})],
  ])('of which a provider sends %s is an error', async (_, reply) => {
    one.reply = reply
    const { status: code, key } = await ask(COMPACT, { model: 'one', input: 'Hello' })
    expect([code, key.holds]).toEqual([502, {}])
  })

  test('is not streamed, and needs an input', async () => {
    expect(await ask(COMPACT, { model: 'one', input: 'Hello', stream: true })).toMatchObject({
      status: 400,
      error: { param: 'stream' },
    })
    expect(await ask(COMPACT, { model: 'one' })).toMatchObject({ status: 400, error: { param: 'input' } })
  })
})

describe('a compaction item', () => {
  const input = (content: string) => [compaction(content), { role: 'user', content: 'Hi' }]
  const provider = async (model: string, content: string) => {
    const { status: code, response, error } = await ask('/v1/responses', { model, input: input(content) })
    return [code, response.headers.get('x-svc-provider'), error.message]
  }

  test('is read by its provider only, and by any provider of Responses if it has no mark', async () => {
    expect(await provider('mixed', sealedBy('two', two.seal('x')))).toEqual([200, 'two', undefined])
    expect(await provider('mixed', two.seal('x'))).toEqual([200, 'two', undefined])
    expect(chat.requests).toHaveLength(0)
  })

  test.each([
    ['chat', "the provider 'two'", sealedBy('two', two.seal('x'))],
    ['one', "the provider 'two'", sealedBy('two', two.seal('x'))],
    ['one', 'a provider of Responses', sealedBy('gone', 'x')],
    ['chat', 'a provider of Responses', 'gAAAAx'],
    // It costs more than is paid, so no client may choose it.
    ['dear', "the provider 'two'", sealedBy('two', two.seal('x'))],
  ])('for the model %s is a 400 that names %s', async (model, who, content) => {
    expect(await provider(model, content)).toEqual([400, null, expect.stringContaining(who)])
    expect([one, two, chat].flatMap(({ requests }) => requests)).toEqual([])
  })

  test('of ours that was changed is a 400', async () => {
    expect(await provider('chat', 'summary.v1.')).toEqual([400, null, expect.stringContaining('input[0]')])
  })

  test('and its trigger go out unchanged', async () => {
    const trigger = { type: 'compaction_trigger' }
    const asked = await ask('/v1/responses', { model: 'one', input: [HISTORY[0], trigger] })
    expect([asked.status, sent(one).input]).toEqual([200, [HISTORY[0], trigger]])
    expect((await ask('/v1/responses', { model: 'chat', input: [HISTORY[0], trigger] })).status).toBe(400)
  })
})

describe('a count', () => {
  const tools = [{ type: 'function', name: 'f', parameters: {}, strict: false }]
  const counting = status(200, { object: 'response.input_tokens', input_tokens: 1234 })

  test('is that of a provider of Responses, free of charge', async () => {
    one.reply = counting
    const own = { model: 'one', input: [{ role: 'user', content: 'Hi' }], instructions: 'Be kind.', tools }
    const asked = { ...own, personality: 'friendly', reasoning: { effort: 'low' }, truncation: 'auto' }
    const { status: code, text, row } = await ask(COUNT, { ...asked, max_output_tokens: 5 }, '0')
    expect([code, JSON.parse(text)]).toEqual([200, { object: 'response.input_tokens', input_tokens: 1234 }])
    expect(sent(one)).toEqual({ ...asked, model: 'm' })
    expect(row).toMatchObject({ endpoint: 'responses.input_tokens', cost: 0n, hold: 0n, usageSource: 'none' })
  })

  test('is ours if the provider has none or another format, and needs no input', async () => {
    one.reply = status(404, {})
    for (const model of ['one', 'chat', 'claude']) {
      for (const more of [{ input: 'Hello' }, {}, { input: null, instructions: 'Be kind.' }, { input: [] }]) {
        const { status: code, text } = await ask(COUNT, { model, ...more })
        const { input_tokens: tokens } = JSON.parse(text)
        expect([model, more, code, Number.isInteger(tokens) && tokens > 0]).toEqual([model, more, 200, true])
      }
    }
  })

  test('for Messages is that of a provider of Responses, too', async () => {
    one.reply = counting
    const messages = [{ role: 'user', content: 'Hi' }]
    const { text } = await ask('/v1/messages/count_tokens', { model: 'one', messages, system: 'Be kind.' })
    expect(JSON.parse(text)).toEqual({ input_tokens: 1234 })
    expect(sent(one)).toEqual({ model: 'm', input: expect.any(Array) })
  })
})
