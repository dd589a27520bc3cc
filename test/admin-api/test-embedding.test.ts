import { expect, test } from '@jest/globals'
import { testRoute } from '../../layers/admin/routes/test-routes.ts'
import { openCatalog } from '../../layers/gateway/domain/routing/catalog.ts'
import { openProvider } from '../../layers/gateway/providers/open-provider.ts'
import { embed, embeddingCatalog } from '../support/embeddings.ts'
import { openUpstream } from '../support/stack.ts'
import { type Reply, status } from '../support/upstream.ts'

const open = openProvider({ env: () => undefined, secret: async () => undefined })

async function tested(reply: Reply) {
  const upstream = await openUpstream(reply)
  const catalog = openCatalog(embeddingCatalog([upstream.url]), 1)
  const model = catalog.models.get('test-embedding')
  const [route] = model?.routes ?? []
  if (!model || !route) throw new Error('there is no model')
  return testRoute(open, catalog, model, route)
}

test.each<[string, Reply, object]>([
  ['answers', embed(), { ok: true, result: 'ok', tokens: 10, cost: '0.00001' }],
  ['reports no usage', embed({ usage: null }), { ok: true, result: expect.stringContaining('billed by estimate') }],
  [
    'has vectors of another length than the catalog says',
    embed({ change: ([one]) => [{ ...one, embedding: [1, 2, 3] }] }),
    { ok: false, result: 'protocol: The upstream sent a vector of 3 numbers where 4 were expected.' },
  ],
  ['fails', status(500, 'broken'), { ok: false, result: 'status: The upstream answered 500.' }],
])('a test of a route of an embedding model says that it %s', async (_, reply, expected) => {
  expect(await tested(reply)).toMatchObject({ model: 'test-embedding', provider: 'up0', ...expected })
})
