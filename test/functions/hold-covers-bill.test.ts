import { beforeAll, describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { countTokens } from '../../layers/tokenizer/count-tokens.ts'
import { Random } from '../simulation/random.ts'
import { catalogFor, HELLO, type TestGateway } from '../support/gateway.ts'
import { openBoth, openFor } from '../support/stack.ts'
import { say, type Upstream } from '../support/upstream.ts'
import { inAscii } from './greedy/random-request.ts'

const REQUESTS = Number(process.env.HELD_REQUESTS ?? 60)
const TIME_MS = 60_000 + REQUESTS * 100
const SEED = Number(process.env.HELD_SEED ?? 9)

/** The largest picture, counted by the most expensive of OpenAI's ways. */
const TOKENS_OF_A_PICTURE = 48_169
// As OpenAI documents them, and as templates of open models are known to add.
const TOKENS_OF_A_MESSAGE = 8
const TOKENS_OF_A_TOOL = 16
const TOKENS_OF_ANY_TOOL = 500
const TOKENS_OF_A_REQUEST = 32

let upstream: Upstream
let gateway: TestGateway
/** Its models take the longest text. */
let grown: TestGateway
beforeAll(async () => {
  ;({ upstream, gateway } = await openBoth({ model: { maxOutputTokens: 500 } }))
  const { providers, models } = catalogFor(upstream.url, { contextLength: 10_000_000 })
  const vectors = { id: 'vectors', kind: 'embedding', contextLength: 1_000_000, dimensions: 2, price: { input: '1' } }
  const routes = [{ provider: 'up', model: 'm' }]
  grown = await openFor(requireCatalog({ providers, models: [...models, { ...vectors, routes }] }))
})

const WORDS = [
  'wombat',
  ' the',
  '漢字',
  'žluťoučký',
  '👨‍👩‍👧',
  '\n\n',
  '\t',
  '{"a":1}',
  '0x7f',
  'ﷺ',
  '\u0000',
  '\\u00e9',
  ' ',
  'ÿ',
  '\u0958',
  'ǘ\u0323',
]

/** Any text that a caller may send, of any script. */
function text(random: Random): string {
  return Array.from({ length: random.below(40) }, () => random.pick(WORDS)).join('')
}

const PICTURES = ['https://example.com/9.png', 'data:image/png;base64,iVBORw0KGgo=', 'data:;base64,/9j/4AAQ']

function part(random: Random): object {
  if (random.chance(0.2)) return { type: 'image_url', image_url: { url: random.pick(PICTURES) } }
  return { type: 'text', text: text(random) }
}

function message(random: Random): object {
  const content = random.chance(0.5) ? text(random) : Array.from({ length: random.below(5) }, () => part(random))
  switch (random.pick(['system', 'user', 'assistant', 'call', 'tool'] as const)) {
    case 'system':
      return { role: 'system', content: text(random), name: 'n' }
    case 'assistant':
      return { role: 'assistant', content: text(random), refusal: text(random), reasoning_content: text(random) }
    case 'call':
      return {
        role: 'assistant',
        content: null,
        tool_calls: Array.from({ length: 1 + random.below(3) }, (_, i) => ({
          id: `call_${i}`,
          type: 'function',
          function: { name: 'f', arguments: JSON.stringify({ a: text(random) }) },
        })),
      }
    case 'tool':
      return { role: 'tool', tool_call_id: 'call_0', content: text(random) }
    default:
      return { role: 'user', content }
  }
}

function request(random: Random): Record<string, unknown> {
  const tool = () => ({
    type: 'function',
    function: { name: 'f', description: text(random), parameters: { type: 'object', properties: { a: {} } } },
  })
  return {
    model: 'test-model',
    messages: Array.from({ length: 1 + random.below(12) }, () => message(random)),
    ...(random.chance(0.3) && { tools: Array.from({ length: 1 + random.below(8) }, tool) }),
    ...(random.chance(0.2) && { response_format: schema(text(random)) }),
    ...(random.chance(0.4) && { max_tokens: 1 + random.below(500) }),
    ...(random.chance(0.2) && { max_completion_tokens: 1 + random.below(500) }),
    ...(random.chance(0.3) && { n: 1 + random.below(4) }),
    stream: random.chance(0.5),
  }
}

const schema = (description: string) => ({
  type: 'json_schema',
  json_schema: { name: 's', schema: { type: 'object', properties: {}, description } },
})

type Sent = {
  readonly messages: readonly { readonly content?: unknown }[]
  readonly tools?: readonly unknown[]
  readonly response_format?: unknown
  readonly n?: number
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
}

/** The most that a provider may count for the request that reached it. */
function worstUsage(body: unknown) {
  const sent = body as Sent
  const parts = sent.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const pictures = parts.filter(({ type }: { type: string }) => type === 'image_url').length
  const tools = (sent.tools?.length ?? 0) + (sent.response_format ? 1 : 0)
  const definitions = [sent.tools, sent.response_format].filter(Boolean).map((part) => JSON.stringify(part, null, 1))
  const prompt =
    stringsIn(sent.messages).reduce((sum, string) => sum + countTokens(string), 0) +
    countTokens(definitions.join('\n')) +
    TOKENS_OF_A_REQUEST +
    TOKENS_OF_A_MESSAGE * sent.messages.length +
    (tools > 0 ? TOKENS_OF_ANY_TOOL + TOKENS_OF_A_TOOL * tools : 0) +
    TOKENS_OF_A_PICTURE * pictures
  const completion = (sent.n ?? 1) * Math.max(sent.max_tokens ?? 0, sent.max_completion_tokens ?? 0)
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

test(
  `the hold of each of ${REQUESTS} random requests covers the most that a provider may bill for it`,
  async () => {
    const random = new Random(SEED)
    const { secret } = await gateway.issue({ credits: '1000000', rpm: 60_000 })
    let accepted = 0
    upstream.reply = (response, { body }) => say('Hello', worstUsage(body))(response, { body } as never)
    for (let i = 0; i < REQUESTS; i++) {
      const body = request(random)
      const before = upstream.requests.length
      const response = await gateway.post(secret, body)
      await response.text()
      if (response.status !== 200) continue
      accepted += 1
      const usage = worstUsage(upstream.requests[before]?.body)
      const row = await gateway.readRow(response.headers.get('x-request-id'))
      const bill = BigInt(usage.prompt_tokens) * 1_000n + BigInt(usage.completion_tokens) * 2_000n
      // Several choices may be counted anew, but never for less.
      expect({ i, covered: row.hold >= bill, charged: row.cost >= bill, capped: row.usageCapped }).toEqual({
        i,
        covered: true,
        charged: true,
        capped: undefined,
      })
    }
    expect(accepted).toBeGreaterThan(REQUESTS * 0.9)
  },
  TIME_MS,
)

test.each(['1e20', '12E+19', '1e21', '2e3', '-5e3', '1e-6', '7e-3', '12e-4'])(
  'the hold covers numbers that came shorter than they are sent on, such as %s',
  async (number) => {
    const { secret } = await gateway.issue({ credits: '1000000' })
    upstream.reply = say('Hello')
    const schema = `{"enum":[${Array(2_000).fill(number).join()}]}`
    const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
    const body = `{"model":"test-model","max_tokens":1,"messages":[{"role":"user","content":"Hi"}],"tools":[${tool}]}`
    const response = await gateway.post(secret, body)
    await response.text()
    const sent = JSON.stringify(upstream.requests.at(-1)?.body)
    const { hold } = await gateway.readRow(response.headers.get('x-request-id'))
    // Some tokenizers make a token of each digit. The price is 1,000 nanocredits a token.
    expect(hold).toBeGreaterThanOrEqual(BigInt(sent.length) * 1_000n)
  },
)

describe.each(['\u0958', '\u{1d160}', '\ufdfa', 'ǘ\u0323', '½'])(
  'a text of %s, which grows where a tokenizer normalises it',
  (word) => {
    const text = word.repeat(5_000)
    const longest = Math.max(...['NFC', 'NFKC'].map((form) => Buffer.byteLength(text.normalize(form))))

    test.each<[string, object]>([
      ['/v1/chat/completions', { max_tokens: 1, messages: [{ role: 'user', content: text }] }],
      ['/v1/responses', { max_output_tokens: 1, input: text }],
      ['/v1/messages', { max_tokens: 1, messages: [{ role: 'user', content: text }] }],
      ['/v1/completions', { max_tokens: 1, prompt: text }],
      ['/v1/embeddings', { input: text }],
    ])('is held in its longest form at %s, escaped or not', async (path, fields) => {
      const { secret } = await grown.issue({ credits: '1000000', scopes: SCOPES })
      const model = path === '/v1/embeddings' ? 'vectors' : 'test-model'
      for (const body of [JSON.stringify({ model, ...fields }), inAscii(JSON.stringify({ model, ...fields }))]) {
        const response = await fetch(grown.baseUrl + path, {
          method: 'POST',
          headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
          body,
        })
        await response.text()
        const { hold } = await grown.readRow(response.headers.get('x-request-id'))
        expect(hold).toBeGreaterThanOrEqual(BigInt(longest) * 1_000n)
      }
    })

    test('in the names of a schema is held in its longest form', async () => {
      const { secret } = await grown.issue({ credits: '1000000' })
      const parameters = { type: 'object', properties: { [text]: {} } }
      const tools = [{ type: 'function', function: { name: 'f', parameters } }]
      const response = await grown.post(secret, { ...HELLO, max_tokens: 1, tools })
      await response.text()
      const { hold } = await grown.readRow(response.headers.get('x-request-id'))
      expect(hold).toBeGreaterThanOrEqual(BigInt(longest) * 1_000n)
    })
  },
)
