import { afterEach, beforeAll, expect, jest, test } from '@jest/globals'
import { OpenAIEmbeddings } from '@langchain/openai'
import OpenAI from 'openai'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import type { TestGateway } from '../support/gateway.ts'
import { openFor, openUpstream } from '../support/stack.ts'
import { blocksOf } from './support/markdown.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await openFor(embeddingCatalog([(await openUpstream(embed())).url]))
})
afterEach(() => void jest.restoreAllMocks())

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...given: unknown[]) => Promise<void>
const blocks = blocksOf('docs/clients.md', 'ts').filter((block) => block.includes('mbeddings'))

test.each(blocks)('code for embeddings in docs/clients.md runs as it is: %s', async (block) => {
  expect(blocks).toHaveLength(2)
  const log = jest.spyOn(console, 'log').mockReturnValue()
  const { secret } = await gateway.issue({ scopes: ['embeddings'] })
  const given = { GATEWAY: gateway.baseUrl, KEY: secret, MODEL: 'test-embedding', OpenAI, OpenAIEmbeddings }
  await new AsyncFunction(...Object.keys(given), block.replaceAll(/^import .*$/gm, ''))(...Object.values(given))
  expect(log.mock.calls).toEqual([[[4, 4]]])
})
