import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { lambdaEnvironment } from './lambda-environment.ts'
import { type DeployedFunction, NODE } from './synthesize.ts'

const HOST = fileURLToPath(new URL('function-host.ts', import.meta.url))

export type FunctionProcess = AsyncDisposable & {
  /** The output of the process: its log. */
  readonly output: { text: string }
  invoke(event: unknown): Promise<unknown>
}

export type Reply = { readonly result: unknown } | { readonly error: string }

/** A function's code in a fresh process of its own, ready to be invoked. */
export async function startFunction(deployed: DeployedFunction, dynamodb: string): Promise<FunctionProcess> {
  const child = fork(HOST, {
    execPath: NODE,
    execArgv: [],
    cwd: deployed.folder,
    env: lambdaEnvironment(deployed, dynamodb),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const { output, ended, end } = watch(child)
  await Promise.race([once(child, 'message'), ended])
  return {
    output,
    async invoke(event) {
      child.send({ event, timeoutMs: deployed.timeoutSeconds * 1000 })
      const [reply] = (await Promise.race([once(child, 'message'), ended])) as [Reply]
      if ('error' in reply) throw new Error(reply.error)
      return reply.result
    },
    [Symbol.asyncDispose]: end,
  }
}

/** The output of a process, its end by itself, which is an error, and a way to end it. */
export function watch(child: ChildProcess) {
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output.text += chunk
    })
  }
  const exited = once(child, 'exit')
  const ended = exited.then(([code, signal]): never => {
    throw new Error(`The function ended with ${code ?? signal}: ${output.text}`)
  })
  ended.catch(() => {})
  const end = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { output, ended, end }
}
