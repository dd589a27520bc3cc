import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { SCOPES } from '../../layers/gateway/endpoints.ts'
import { embed, embeddingCatalog, vectorAt } from '../support/embeddings.ts'
import type { TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { say } from '../support/upstream.ts'
import { blocksOf } from './support/markdown.ts'

let gateway: TestGateway

beforeAll(async () => {
  const upstream = await openUpstream((response, request) =>
    (request.body.input ? embed() : say('Hello there'))(response, request),
  )
  gateway = await openFor(embeddingCatalog([upstream.url]))
})
afterEach(() => void jest.restoreAllMocks())
afterAll(() => {
  delete process.env.WAYBILL_API_KEY
})

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>

/** A block as the body of a function, which is given what loads modules. */
function asBody(block: string, model: string): string {
  return block
    .replaceAll(/^import (\w+) from ('.+')$/gm, 'const { default: $1 } = await load($2)')
    .replaceAll(/^import (\{.+\}) from ('.+')$/gm, 'const $1 = await load($2)')
    .replaceAll('https://GATEWAY', gateway.baseUrl)
    .replaceAll('MODEL', model)
}

const BLOCKS = blocksOf('docs/clients.md', 'ts').map((block) => {
  const packages = Array.from(block.matchAll(/ from '(.+)'/g), ([, name]) => name)
  return [packages.join(' and '), block] as const
})

test.each(BLOCKS)('the code with %s in docs/clients.md runs as it is', async (_, block) => {
  const log = jest.spyOn(console, 'log').mockReturnValue()
  const isEmbedding = block.includes('Embeddings')
  const { secret } = await gateway.issue({ scopes: SCOPES })
  process.env.WAYBILL_API_KEY = secret
  await new AsyncFunction('load', asBody(block, isEmbedding ? 'test-embedding' : 'test-model'))(
    (name: string) => import(name),
  )
  expect(log.mock.calls).toEqual([[isEmbedding ? [vectorAt(0), vectorAt(1)] : 'Hello there']])
})

test('docs/clients.md has code for each SDK that is tested', () => {
  expect(BLOCKS.map(([packages]) => packages)).toEqual([
    'openai',
    '@anthropic-ai/sdk',
    '@ai-sdk/openai-compatible and ai',
    '@ai-sdk/openai and ai',
    '@openrouter/ai-sdk-provider and ai',
    '@openai/agents',
    '@langchain/openai',
    '@langchain/openai',
  ])
})
