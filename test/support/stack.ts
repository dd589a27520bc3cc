import { createServer, type RequestListener } from 'node:http'
import { afterAll } from '@jest/globals'
import type { LocalFile } from '../../cli/connect/local-gateway.ts'
import type { CatalogData } from '../../layers/gateway/domain/routing/catalog.ts'
import type { ChatTiming } from '../../layers/gateway/flow/answering/chat-deps.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { catalogFor, openGateway, type TestGateway, type TestOptions, tablesAt } from './gateway.ts'
import { listen } from './listen.ts'
import { startLocalAdmin } from './local-admin.ts'
import { type Process, run } from './processes.ts'
import { type Stage, type StageOptions, startStage } from './stage.ts'
import { startUnreliableDynamoDb, type UnreliableDynamoDb } from './unreliable-dynamodb.ts'
import { type Reply, startUpstream, type Upstream } from './upstream.ts'
import { until } from './wait.ts'

/** Everything that a test file opens is closed when the file is done. */
const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

export async function openUpstream(reply?: Reply): Promise<Upstream> {
  return opened.use(await startUpstream(reply))
}

export function closeAfterwards<T extends AsyncDisposable>(one: T): T {
  return opened.use(one)
}

/** The address of a server that answers so. */
export async function openServer(listener: RequestListener, onConnection = () => {}): Promise<string> {
  return opened.use(await listen(createServer(listener).on('connection', onConnection))).url
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
  tables: Tables,
  baseUrl = 'http://127.0.0.1:1',
  name = 'dev',
  options?: StageOptions,
): Promise<Stage> {
  return opened.use(await startStage(tables, baseUrl, name, options))
}

/** The same tables, over a line that can be made bad. */
export async function openLine(tables: Tables): Promise<{ readonly line: UnreliableDynamoDb; readonly far: Tables }> {
  const line = opened.use(await startUnreliableDynamoDb(process.env.TEST_DYNAMODB ?? ''))
  return { line, far: tablesAt(tables, line.endpoint) }
}

type Apart = {
  /** The database, as the process reaches it. */
  readonly endpoint?: string
  readonly timing?: Partial<ChatTiming>
  readonly program?: string
}

/** A gateway in a process of its own over these tables. */
export async function openApart(
  { keys, usage, answers }: Tables,
  { endpoint = process.env.TEST_DYNAMODB ?? '', timing = {}, program = 'test/support/gateway-process.ts' }: Apart = {},
): Promise<Process & { readonly url: string }> {
  const names = { keysTable: keys, usageTable: usage, answersTable: answers }
  const started = run(program, [endpoint, JSON.stringify(names), JSON.stringify(timing)], process.cwd())
  opened.defer(() => void started.child.kill('SIGKILL'))
  await until(() => started.output.stdout.includes('\n'), 30_000)
  return { ...started, url: started.output.stdout.split('\n', 1)[0] ?? '' }
}

/** A gateway in front of one upstream. */
export async function openBoth(
  options: TestOptions & { model?: object; provider?: object } = {},
): Promise<{ upstream: Upstream; gateway: TestGateway }> {
  const { model, provider, ...rest } = options
  const upstream = await openUpstream()
  return { upstream, gateway: await openFor(catalogFor(upstream.url, model, provider), rest) }
}
