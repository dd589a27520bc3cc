import type { Cores } from '../around/cores.ts'
import { heapLimits } from '../around/heap-limits.ts'
import { startMeasured } from '../around/measured-process.ts'
import { type RuntimeApi, startRuntimeApi } from './runtime-api.ts'

export type Runtime = AsyncDisposable & {
  readonly pid: number
  /** Sends an event. The time until the answer's first words, and until its end. */
  answer(event: object): Promise<Timing>
}

export type Timing = { readonly firstMs: number; readonly wholeMs: number }

type Started = {
  readonly cores: Cores
  /** The file of AWS's runtime client. */
  readonly client: string
  readonly folder: string
  readonly memoryMb: number
  readonly env: Readonly<Record<string, string>>
}

/** A function in the process that Lambda would start for it, with AWS's own code around the handler. */
export async function startRuntimeProcess({ cores, client, folder, memoryMb, env }: Started): Promise<Runtime> {
  const stack = new AsyncDisposableStack()
  const api = stack.use(await startRuntimeApi())
  const [handler, PATH] = ['index.handler', process.env.PATH ?? '']
  const lambda = {
    AWS_LAMBDA_RUNTIME_API: api.address,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_LOG_GROUP_NAME: 'bench',
    AWS_LAMBDA_LOG_STREAM_NAME: 'bench',
    LAMBDA_TASK_ROOT: folder,
    _HANDLER: handler,
    PATH,
  }
  const args = [...heapLimits(memoryMb), client, handler]
  const { child, message } = stack.use(startMeasured(cores, args, { cwd: folder, env: { ...env, ...lambda } }))
  // It sends none, so this is its end.
  const ended = message<never>()
  ended.catch(() => {})
  return {
    pid: child.pid ?? 0,
    answer: (event) => Promise.race([timed(api, event), ended]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** More than the head of a compressed answer, less than its first words. */
const FIRST_BYTES = 24

async function timed(api: RuntimeApi, event: object): Promise<Timing> {
  const startMs = performance.now()
  const answer = await api.invoke(event, 900)
  await answer.bodyBytes(FIRST_BYTES)
  const firstMs = performance.now() - startMs
  const { statusCode } = await answer.whole()
  if (statusCode !== 200) throw new Error(`The function answered ${statusCode}: ${answer.body}`)
  return { firstMs, wholeMs: performance.now() - startMs }
}
