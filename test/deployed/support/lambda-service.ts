import { json } from 'node:stream/consumers'
import type { FunctionProcess } from './function-process.ts'
import { type Started, startServer } from './start-server.ts'

export type LambdaService = Started & {
  /** The name of every function that was invoked, and what it was given. */
  readonly invoked: { readonly name: string; readonly event: unknown }[]
  /** While false, every invocation is answered with a 503. */
  isUp: boolean
}

/** As much of Lambda's API as a function calls: invoking another and waiting for its answer. */
export async function startLambdaService(functions: Readonly<Record<string, FunctionProcess>>): Promise<LambdaService> {
  const server = await startServer(async (request, response) => {
    const [, name = ''] = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/.exec(request.url ?? '') ?? []
    const event = await json(request)
    service.invoked.push({ name, event })
    const isSigned = request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=local/')
    const status = !service.isUp ? 503 : !isSigned ? 403 : functions[name] ? 200 : 404
    const answer = status === 200 ? await functions[name]?.invoke(event) : { Message: 'refused' }
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
  })
  const service: LambdaService = { ...server, invoked: [], isUp: true }
  return service
}
