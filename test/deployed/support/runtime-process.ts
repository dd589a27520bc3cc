import { type ChildProcess, spawn } from 'node:child_process'
import { watch } from './function-process.ts'
import type { LambdaAnswer } from './lambda-answer.ts'
import { lambdaEnvironment } from './lambda-environment.ts'
import { startRuntimeApi } from './runtime-api.ts'
import { type DeployedFunction, NODE } from './synthesize.ts'

export type RuntimeProcess = AsyncDisposable & {
  readonly child: ChildProcess
  readonly output: { text: string }
  /** The failures that the runtime reported. */
  readonly errors: readonly string[]
  /** Resolves with the first byte of the answer. */
  invoke(event: unknown): Promise<LambdaAnswer>
}

type Started = Pick<DeployedFunction, 'folder' | 'handler' | 'environment' | 'memoryMb' | 'nodePath' | 'timeoutSeconds'>
type Around = { readonly env?: Readonly<Record<string, string>> }

/** A function in the process that Lambda would start for it: AWS's runtime client, the environment. */
export async function startRuntime(
  client: string,
  deployed: Started,
  dynamodb: string,
  { env }: Around = {},
): Promise<RuntimeProcess> {
  const api = await startRuntimeApi()
  const child = spawn(NODE, [client, deployed.handler], {
    cwd: deployed.folder,
    env: { ...lambdaEnvironment(deployed, dynamodb), AWS_LAMBDA_RUNTIME_API: api.address, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { output, ended, end } = watch(child)
  return {
    child,
    output,
    errors: api.errors,
    invoke: (event) => Promise.race([api.invoke(event, deployed.timeoutSeconds), ended]),
    async [Symbol.asyncDispose]() {
      await end()
      await api[Symbol.asyncDispose]()
    },
  }
}

/** The limits that the bootstrap of Lambda's Node runtimes sets: a tenth for the young generation, in two halves. */
export function heapLimits(memoryMb: number): string {
  const young = Math.floor(memoryMb / 10)
  return `--max-semi-space-size=${Math.floor(young / 2)} --max-old-space-size=${memoryMb - young}`
}
