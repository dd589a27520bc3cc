import { describe, expect, test } from '@jest/globals'
import { requireCatalog } from '../../layers/catalog/parse-catalog.ts'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { catalogFor } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { inAscii } from './greedy/random-request.ts'

// That a hold covers the bill of random requests is tried by the greedy provider; these are texts that become longer.

/** Its models take the longest text. The price is 1,000 nanocredits a token. */
const upstream = await openUpstream()
const { providers, models } = catalogFor(upstream.url, { contextLength: 10_000_000 })
const vectors = { id: 'vectors', kind: 'embedding', contextLength: 1_000_000, dimensions: 2, price: { input: '1' } }
const routes = [{ provider: 'up', model: 'm' }]
const gateway = await openFor(requireCatalog({ providers, models: [...models, { ...vectors, routes }] }))
const { secret } = await gateway.issue({ credits: '1000000', scopes: SCOPES, rpm: 60_000 })

/** The hold of this body, which is sent as it is. */
async function holdOf(body: string, path?: string): Promise<bigint> {
  const response = await gateway.post(secret, body, {}, path)
  await response.text()
  return (await gateway.readRow(response.headers.get('x-request-id'))).hold
}

test.each(['1e20', '12E+19', '1e21', '2e3', '-5e3', '1e-6', '7e-3', '12e-4'])(
  'the hold covers numbers that came shorter than they are sent on, such as %s',
  async (number) => {
    const schema = `{"enum":[${Array(2_000).fill(number).join()}]}`
    const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
    const body = `{"model":"test-model","max_tokens":1,"messages":[{"role":"user","content":"Hi"}],"tools":[${tool}]}`
    const hold = await holdOf(body)
    const sent = JSON.stringify(upstream.requests.at(-1)?.body)
    // Some tokenizers make a token of each digit.
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
      const model = path === '/v1/embeddings' ? 'vectors' : 'test-model'
      const body = JSON.stringify({ model, ...fields })
      for (const written of [body, inAscii(body)]) {
        expect(await holdOf(written, path)).toBeGreaterThanOrEqual(BigInt(longest) * 1_000n)
      }
    })

    test('in the names of a schema is held in its longest form', async () => {
      const parameters = { type: 'object', properties: { [text]: {} } }
      const tools = [{ type: 'function', function: { name: 'f', parameters } }]
      const { hold } = (await gateway.ask({ max_tokens: 1, tools }, { secret })).row
      expect(hold).toBeGreaterThanOrEqual(BigInt(longest) * 1_000n)
    })
  },
)
