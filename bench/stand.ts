import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startDatabase } from '../local/database-thread.ts'
import { lambdaEnvironment } from '../test/deployed/support/lambda-environment.ts'
import { heapLimits } from '../test/deployed/support/runtime-process.ts'
import { AT_ONCE, type Subject, type Target } from './load.ts'
import { startUpstream } from './upstream.ts'
import { bundleOfChat, deployedAs, prepareTables } from './waybill.ts'

type OnOwnCore = (command: readonly string[]) => readonly string[]

export type Stand = ReturnType<typeof openStand>

// A serving instance is warm. By default V8 optimises code that runs once a request after some ten thousand requests,
// all at once, and for a second each costs five times as much. With this option it does so within the first thousands.
const COMPILES_SOON = '--invocation-count-for-turbofan=500'

const program = (name: string) => fileURLToPath(new URL(`subjects/${name}`, import.meta.url))

/** All that rows need. Each part is lazy: it starts with the first row that asks for it. */
export function openStand(say: (line: string) => void) {
  const stack = new AsyncDisposableStack()
  // A run that is interrupted leaves no database behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stack.disposeAsync().finally(() => process.exit(1)))
  }
  const { cores, onOwnCore } = takeCores(stack)
  const upstreamUrl = onceOnly(async () => stack.use(await startUpstream()).url)
  const dynamodb = onceOnly(async () => (await startDatabase({ credentials: null, file: null }, stack)).endpoint)

  async function startSubjects() {
    const upstream = await upstreamUrl()
    const deployed = deployedAs(bundleOfChat(stack))
    // Each caller has a key: callers that share one would meet in its writes, and some would be made twice.
    const secrets: string[] = []
    while (secrets.length < AT_ONCE) secrets.push((await prepareTables(await dynamodb(), upstream)).secret)
    const env = { ...lambdaEnvironment(deployed, await dynamodb()), PATH: process.env.PATH }
    const args = [...heapLimits(deployed.memoryMb).split(' '), program('lambda-server.cjs')]
    const headers = secrets.map((secret) => ({ Authorization: `Bearer ${secret}` }))
    return {
      bareProxy: await startSubject([program('bare-proxy.ts'), upstream], { env: process.env }, [{}]),
      waybill: await startSubject(args, { cwd: deployed.folder, env }, headers),
    }
  }

  async function startSubject(
    args: readonly string[],
    options: { readonly cwd?: string; readonly env: NodeJS.ProcessEnv },
    headers: Target['headers'],
  ): Promise<Subject> {
    const [command = '', ...rest] = onOwnCore([process.execPath, COMPILES_SOON, ...args])
    const child = spawn(command, rest, { ...options, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    stack.defer(() => void child.kill('SIGKILL'))
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${args.at(-1)} ended with code ${code}.`)
    })
    ended.catch(() => {})
    const message = async () => (await Promise.race([once(child, 'message'), ended]))[0]
    const port: number = await message()
    return {
      target: { url: `http://127.0.0.1:${port}/v1`, headers },
      async consumption() {
        child.send('consumption')
        const { user, system }: NodeJS.CpuUsage = await message()
        return user + system
      },
    }
  }

  return {
    ...{ cores, onOwnCore, say, upstreamUrl, dynamodb },
    subjects: onceOnly(startSubjects),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** The measured process has core 0 to itself. The load, the upstream and the database share core 1. */
function takeCores(stack: AsyncDisposableStack): { cores: string; onOwnCore: OnOwnCore } {
  try {
    execFileSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' })
  } catch {
    return {
      cores: 'processes are not pinned to cores: it takes taskset and two cores',
      onOwnCore: (command) => command,
    }
  }
  const onOwnCore: OnOwnCore = (command) => ['taskset', '-c', '0', ...command]
  // A core of a virtual machine that sleeps while a gateway waits is slow when it wakes, and its time would be counted
  // as the gateway's: half of the figure with a database. So a process keeps it awake that runs only while no other
  // wants to, and ends with this one. Without chrt the core may sleep.
  const stayAwake = 'const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e7; i++);'
  const [command = '', ...args] = onOwnCore(['chrt', '--idle', '0', process.execPath, '-e', stayAwake])
  const awake = spawn(command, args, { stdio: 'ignore' }).once('error', () => {})
  stack.defer(() => void awake.kill())
  return { cores: 'the measured process has core 0; load, upstream and database share core 1', onOwnCore }
}

function onceOnly<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= start()
    return started
  }
}
