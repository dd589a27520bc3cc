import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { LambdaAnswer } from '../../../bench/lambda/lambda-answer.ts'
import { startRuntimeApi } from '../../../bench/lambda/runtime-api.ts'
import { lambdaEnvironment } from './lambda-environment.ts'
import { type DeployedFunction, NODE } from './synthesize.ts'

export type RuntimeProcess = AsyncDisposable & {
  readonly child: ChildProcess
  readonly output: { text: string }
  /** The failures that the runtime reported. */
  readonly errors: readonly string[]
  /** Resolves with the first byte of the answer. */
  invoke(event: unknown): Promise<LambdaAnswer>
}

/** A function in the process that Lambda would start for it: AWS's runtime client, the environment. */
export async function startRuntime(
  client: string,
  deployed: DeployedFunction,
  dynamodb: string,
  extra: Record<string, string> = {},
): Promise<RuntimeProcess> {
  const api = await startRuntimeApi()
  const child = spawn(NODE, [client, deployed.handler], {
    cwd: deployed.folder,
    env: {
      ...lambdaEnvironment(deployed, dynamodb),
      AWS_LAMBDA_RUNTIME_API: api.address,
      ...extra,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.text += chunk
    })
  }
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The runtime ended with ${code ?? signal}: ${output.text}`)
  })
  ended.catch(() => {})
  return {
    child,
    output,
    errors: api.errors,
    invoke: (event) => Promise.race([api.invoke(event, deployed.timeoutSeconds), ended]),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }
      await api[Symbol.asyncDispose]()
    },
  }
}
