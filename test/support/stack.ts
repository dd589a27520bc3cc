import { afterAll } from '@jest/globals'
import type { LocalFile } from '../../cli/connect/local-gateway.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { OperatorTables } from '../../layers/gateway/store/sdk/operator-tables.ts'
import { catalogFor, openGateway, type TestGateway, type TestOptions } from './gateway.ts'
import { startLocalAdmin } from './local-admin.ts'
import { type Stage, type StageOptions, startStage } from './stage.ts'
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

/** The local gateway over the same tables, by the file in its folder. */
export async function openLocalAdmin(gateway: TestGateway): Promise<LocalFile> {
  return opened.use(await startLocalAdmin(gateway)).file
}

/** The things that an operator of these tables needs beside them. */
export async function openStage(
  tables: OperatorTables,
  baseUrl = 'http://127.0.0.1:1',
  name = 'dev',
  options?: StageOptions,
): Promise<Stage> {
  return opened.use(await startStage(tables, baseUrl, name, options))
}

/** A gateway in front of one upstream. */
export async function openBoth(
  options: TestOptions & { model?: object; provider?: object } = {},
): Promise<{ upstream: Upstream; gateway: TestGateway }> {
  const { model, provider, ...rest } = options
  const upstream = await openUpstream()
  return { upstream, gateway: await openFor(catalogFor(upstream.url, model, provider), rest) }
}
