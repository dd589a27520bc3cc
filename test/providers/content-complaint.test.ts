import { expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { chunk, event, say, sse, status } from '../support/upstream.ts'

const KEY = 'sk-or-v1-not-a-real-key'

/** A gateway with two routes, of which the first answers with this status and error. */
async function openWith(code: number, error: unknown) {
  process.env.TEST_CONTENT_KEY = KEY
  const first = await openUpstream(status(code, { error }))
  const second = await openUpstream(say('From elsewhere'))
  const provider = ({ url }: { url: string }) => ({ type: 'openai', baseUrl: url, apiKey: 'env:TEST_CONTENT_KEY' })
  const catalog = requireCatalog({
    providers: { first: provider(first), second: provider(second) },
    models: [
      {
        id: 'test-model',
        contextLength: 100_000,
        maxOutputTokens: 1000,
        price: { input: '1', output: '2' },
        routes: [
          { provider: 'first', model: 'a', priority: 0 },
          { provider: 'second', model: 'b', priority: 1 },
        ],
      },
    ],
  })
  const gateway = await openFor(catalog)
  const ask = async (fields: object = {}) => {
    const { response, status, text } = await gateway.ask(fields)
    return { status, text, attempts: response.headers.get('x-svc-attempts') }
  }
  return { first, second, gateway, ask }
}

const COMPLAINTS: [string, number, object][] = [
  [
    'in OpenRouter’s form',
    403,
    {
      code: 403,
      message: 'openai/gpt-4o requires moderation. Your input was flagged for "violence".',
      metadata: { reasons: ['violence'], flagged_input: 'Hello', provider_name: 'OpenAI' },
    },
  ],
  ['known by its list of reasons', 403, { message: 'Forbidden.', metadata: { reasons: ['sexual'] } }],
  ['known by its code', 403, { message: 'No.', code: 'content_policy_violation' }],
  ['known by its type', 403, { message: 'No.', type: 'content_filter_error' }],
  ['known by its words', 403, { message: 'The prompt was rejected by our safety system.' }],
  ['known by its code', 400, { message: 'Your prompt was flagged.', code: 'content_filter' }],
  ['known by its words', 422, { message: 'Input failed moderation.' }],
]

test.each(COMPLAINTS)(
  'an upstream’s complaint about the content, %s (%i), becomes a 400 and no other route is tried',
  async (_, code, error) => {
    const { ask, second, first, gateway } = await openWith(code, { ...error, hint: KEY })
    for (let times = 0; times < 4; times++) {
      const refused = await ask()
      expect([refused.status, refused.attempts]).toEqual([400, `first=rejected ${code}`])
      expect(refused.text).toContain((error as { message: string }).message.slice(0, 10))
      expect(refused.text).not.toContain(KEY)
    }
    // Other callers are not affected: the route stays in use, and no alarm is raised.
    first.reply = say('From the first')
    expect(await ask()).toMatchObject({ status: 200, attempts: 'first=ok' })
    expect(second.requests).toEqual([])
    expect(gateway.logLines.join('\n')).not.toContain('CredentialFailures')
  },
)

test.each([
  ['in plain JSON', status(200, { error: { code: 403, message: 'Flagged by moderation.' } })],
  ['as the first event', sse([event({ error: { code: 403, message: 'Flagged by moderation.' } })])],
  ['in mid-stream', sse([chunk({ content: 'Hel' }), event({ error: { message: 'Flagged by moderation.' } })])],
])(
  'a complaint about the content with status 200 %s is told to the caller, and no other route is tried',
  async (_, reply) => {
    const { ask, first, second } = await openWith(200, undefined)
    first.reply = reply
    for (let times = 0; times < 4; times++) {
      expect(await ask()).toMatchObject({ status: 400 })
      expect((await ask({ stream: true })).text).toContain('Flagged by moderation.')
    }
    first.reply = say('From the first')
    expect(await ask()).toMatchObject({ status: 200, attempts: 'first=ok' })
    expect(second.requests).toEqual([])
  },
)

test('a complaint about the content is told to the caller without the provider key', async () => {
  const { ask } = await openWith(403, { message: `Flagged by moderation for ${KEY}.` })
  expect((await ask()).text).toContain('Flagged by moderation for [key].')
})

test.each<[string, number, unknown]>([
  ['the operator’s key', 403, { message: 'Invalid API key.' }],
  ['the operator’s account', 403, { message: 'Your account was flagged by our safety systems.' }],
  ['the operator’s organization', 403, { message: 'Your organization must be verified.', type: 'permission_error' }],
  ['nothing in particular', 403, undefined],
  ['the operator’s credits', 402, { message: 'Insufficient credits, says moderation.', code: 402 }],
  ['the operator’s login', 401, { message: 'No auth; flagged.' }],
])('an upstream’s complaint about %s (%i) lets the next route answer and raises an alarm', async (_, code, error) => {
  const { ask, gateway } = await openWith(code, error)
  const reason = code === 401 ? 'credential' : 'forbidden'
  expect(await ask()).toMatchObject({ status: 200, attempts: `first=${reason} ${code}, second=ok` })
  expect(gateway.logLines.join('\n')).toContain('CredentialFailures')
})
