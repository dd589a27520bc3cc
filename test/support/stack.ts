import { afterAll } from '@jest/globals'
import type { CatalogData } from '../../layers/gateway/domain/catalog.ts'
import type { Tables } from '../../layers/gateway/store/tables.ts'
import { catalogFor, openGateway, type TestGateway, type TestOptions } from './gateway.ts'
import { type Stage, startStage } from './stage.ts'
import { type Reply, startUpstream, type Upstream } from './upstream.ts'

/** Everything that a test file opens is closed when the file is done. */
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

export async function openUpstream(reply?: Reply): Promise<Upstream> {
  return opened.use(await startUpstream(reply))
}

export async function openFor(catalog: CatalogData, options?: TestOptions): Promise<TestGateway> {
  return opened.use(await openGateway(catalog, options))
}

/** The things that an operator of these tables needs beside them. */
export async function openStage(
  tables: Tables,
  baseUrl = 'http://127.0.0.1:1',
  name = 'dev',
  stackName?: string,
): Promise<Stage> {
  return opened.use(await startStage(tables, baseUrl, name, stackName))
}

/** A gateway in front of one upstream. */
export async function openBoth(
  options: TestOptions & { model?: object; provider?: object } = {},
): Promise<{ upstream: Upstream; gateway: TestGateway }> {
  const { model, provider, ...rest } = options
  const upstream = await openUpstream()
  return { upstream, gateway: await openFor(catalogFor(upstream.url, model, provider), rest) }
}
