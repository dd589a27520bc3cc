import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { LambdaAnswer } from './lambda-answer.ts'
import { startServer } from './start-server.ts'

export type RuntimeApi = AsyncDisposable & {
  /** The value of AWS_LAMBDA_RUNTIME_API. */
  readonly address: string
  /** The failures that the runtime reported: of an invocation, or of its start. */
  readonly errors: string[]
  /** Resolves with the first byte of the answer. */
  invoke(event: unknown, timeoutSeconds: number): Promise<LambdaAnswer>
}

type Invocation = {
  readonly id: string
  readonly event: unknown
  readonly deadlineMs: number
  readonly answered: PromiseWithResolvers<LambdaAnswer>
}

const PREFIX = '/2018-06-01/runtime'
const ARN = 'arn:aws:lambda:us-east-1:123456789012:function:test'

/** Lambda's side of a running function: hands out one event at a time and takes what comes back as it comes. */
export async function startRuntimeApi(): Promise<RuntimeApi> {
  const invocations = new Map<string, Invocation>()
  const waiting: Invocation[] = []
  const errors: string[] = []
  let idle: ServerResponse | undefined

  const server = await startServer((request, response) =>
    serve(request, response).catch((error) => errors.push(String(error))),
  )
  return {
    ...server,
    address: new URL(server.endpoint).host,
    errors,
    invoke(event, timeoutSeconds) {
      const id = randomUUID()
      const answered = Promise.withResolvers<LambdaAnswer>()
      waiting.push({ id, event, deadlineMs: Date.now() + timeoutSeconds * 1000, answered })
      handOut()
      return answered.promise
    },
  }

  function handOut(): void {
    const next = idle && waiting.shift()
    if (!idle || !next) return
    invocations.set(next.id, next)
    idle.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': next.id,
      'Lambda-Runtime-Deadline-Ms': next.deadlineMs,
      'Lambda-Runtime-Invoked-Function-Arn': ARN,
      'Lambda-Runtime-Trace-Id':
        'Root=1-67890abc-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=1;Lineage=1:2a3b4c5d:0',
    })
    idle.end(JSON.stringify(next.event))
    idle = undefined
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(PREFIX.length)
    if (request.method === 'GET' && path === '/invocation/next') {
      idle = response
      return handOut()
    }
    const { id = '', what } = /^\/invocation\/(?<id>[^/]+)\/(?<what>response|error)$/.exec(path)?.groups ?? {}
    const invocation = invocations.get(id)
    if (what === 'response' && invocation) {
      await LambdaAnswer.receive(request, invocation.answered.resolve)
    } else {
      const error = await text(request)
      errors.push(error)
      invocation?.answered.reject(new Error(error))
    }
    response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"status":"OK"}')
  }
}
