import { fileURLToPath } from 'node:url'
import { startDynamoDbLocal } from '../local/dynamodb-local.ts'
import { type Cores, takeCores } from './around/cores.ts'
import type { Target } from './around/load.ts'
import type { MeasuredProcess } from './around/measured-process.ts'
import { startUpstream } from './around/upstream.ts'
import { startGateway } from './around/warm-up.ts'
import { startPortkey } from './subjects/portkey.ts'

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
  waybillInMemory(): Promise<Subject>
  waybill(): Promise<Subject>
  /** Undefined if it cannot be installed. */
  portkey(): Promise<Subject | undefined>
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
  const dynamodb = once(async () => (await startDynamoDbLocal(null, stack)).endpoint)

  async function start(name: string, ...args: string[]): Promise<Subject> {
    const started = stack.use(startGateway(cores, [program(name), ...args]))
    return { process: started, target: await started.message<Target>() }
  }

  return {
    cores,
    say,
    upstreamUrl,
    dynamodb,
    bareProxy: once(async () => start('bare-proxy.ts', await upstreamUrl())),
    waybillInMemory: once(async () => start('gateway.ts', await upstreamUrl())),
    waybill: once(async () => start('gateway.ts', await upstreamUrl(), await dynamodb())),
    portkey: once(async () => {
      try {
        const subject = await startPortkey(cores, await upstreamUrl())
        stack.use(subject.process)
        return subject
      } catch (error) {
        say(`Portkey is left out, because it could not be installed or started: ${firstLine(error)}`)
        return undefined
      }
    }),
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

function firstLine(error: unknown): string {
  return String((error as Error).message).split('\n')[0] ?? ''
}
