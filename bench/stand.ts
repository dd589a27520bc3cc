import { fileURLToPath } from 'node:url'
import { stageOf } from '../infra/stages.ts'
import { startDatabase } from '../local/database-thread.ts'
import { withPath } from './around/cold-start.ts'
import { type Cores, takeCores } from './around/cores.ts'
import { heapLimits } from './around/heap-limits.ts'
import { AT_ONCE, type Target } from './around/load.ts'
import type { MeasuredProcess } from './around/measured-process.ts'
import { startUpstream } from './around/upstream.ts'
import { startGateway } from './around/warm-up.ts'
import { bundleOf, lambdaEnvironment } from './subjects/bundles.ts'
import { prepareTables } from './subjects/prepare-tables.ts'

/** A measured gateway, in a process of its own. */
export type Subject = { readonly target: Target; readonly process: MeasuredProcess }

/** All that rows need. Each part is lazy: it starts with the first row that asks for it. */
export type Stand = AsyncDisposable & {
  readonly cores: Cores
  /** Reports progress to the person who waits. */
  say(line: string): void
  upstreamUrl(): Promise<string>
  dynamodb(): Promise<string>
  bareProxy(): Promise<Subject>
  /** The bundle of chat as it is deployed, over our own database. Each caller has a key. */
  waybill(): Promise<Subject>
}

const program = (name: string) => fileURLToPath(new URL(`subjects/${name}`, import.meta.url))

export function openStand(say: (line: string) => void): Stand {
  const stack = new AsyncDisposableStack()
  const cores = stack.use(takeCores())
  // A run that is interrupted leaves no database behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stack.disposeAsync().finally(() => process.exit(1)))
  }
  const upstreamUrl = once(async () => stack.use(await startUpstream()).url)
  const dynamodb = once(async () => (await startDatabase({ credentials: null, file: null }, stack)).endpoint)

  async function startBareProxy(): Promise<Subject> {
    const started = stack.use(startGateway(cores, [program('bare-proxy.ts'), await upstreamUrl()]))
    return { process: started, target: await started.message<Target>() }
  }

  async function startBundle(): Promise<Subject> {
    const { folder } = stack.use(bundleOf('chat'))
    const { chatMemoryMb } = stageOf('prod')
    const endpoint = await dynamodb()
    const secrets: string[] = []
    // Callers that share a key would meet in its writes, and some would be made twice.
    while (secrets.length < AT_ONCE) secrets.push((await prepareTables(endpoint, await upstreamUrl())).secret)
    const args = [...heapLimits(chatMemoryMb), program('lambda-server.cjs')]
    const env = withPath(lambdaEnvironment(endpoint, chatMemoryMb))
    const started = stack.use(startGateway(cores, args, { cwd: folder, env }))
    const port = await started.message<number>()
    const headers = secrets.map((secret) => ({ Authorization: `Bearer ${secret}` }))
    return { process: started, target: { url: `http://127.0.0.1:${port}/v1`, headers } }
  }

  return {
    cores,
    say,
    upstreamUrl,
    dynamodb,
    bareProxy: once(startBareProxy),
    waybill: once(startBundle),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= start()
    return started
  }
}
