import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listen } from './listen.ts'

/** The treatment of a call: it is answered; cut off before or after it did its work; rejected; or cancelled, as a transaction. */
export type Treatment = 'answer' | 'cut off' | 'lose the answer' | 'throttle' | 'conflict' | 'fail'

export type UnreliableDynamoDb = AsyncDisposable & {
  readonly endpoint: string
  treat: (operation: string, body: string) => Treatment
  /** A call waits for this on its way. */
  delay: (operation: string) => Promise<unknown>
  /** Closes every connection, as happens to kept ones while a function is frozen. */
  hangUp(): void
  /** How often each treatment was given. */
  readonly given: Record<Treatment, number>
}

/** DynamoDB Local behind a line that can be made bad. */
export async function startUnreliableDynamoDb(target: string): Promise<UnreliableDynamoDb> {
  const agent = new Agent({ keepAlive: true })
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy())
  })
  const served = await listen(server)
  const proxy: UnreliableDynamoDb = {
    endpoint: served.url,
    treat: () => 'answer',
    delay: () => Promise.resolve(),
    hangUp: () => server.closeAllConnections(),
    given: { answer: 0, 'cut off': 0, 'lose the answer': 0, throttle: 0, conflict: 0, fail: 0 },
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]()
      agent.destroy()
    },
  }
  return proxy

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? ''
    await proxy.delay(operation)
    const treatment = proxy.treat(operation, body.toString())
    proxy.given[treatment] += 1
    if (treatment === 'cut off') return void incoming.socket.destroy()
    if (treatment === 'throttle') return refuse(response, 400, 'ProvisionedThroughputExceededException')
    if (treatment === 'conflict') return refuseInConflict(response, operation)
    const answer = await forward(incoming, body)
    const answered = await buffer(answer)
    if (treatment === 'lose the answer') return void incoming.socket.destroy()
    if (treatment === 'fail') return refuse(response, 500, 'InternalServerError')
    response.writeHead(answer.statusCode ?? 0, answer.headers).end(answered)
  }

  function forward({ method, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request(target, { method, headers, agent }, resolve).once('error', reject).end(body)
    })
  }
}

/** As DynamoDB refuses what meets others on the same item: a transaction, or a plain write. */
function refuseInConflict(response: ServerResponse, operation: string): void {
  const CancellationReasons = [{ Code: 'TransactionConflict' }]
  if (operation.startsWith('Transact')) refuse(response, 400, 'TransactionCanceledException', { CancellationReasons })
  else refuse(response, 400, 'TransactionConflictException')
}

function refuse(response: ServerResponse, status: number, name: string, detail = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' })
  response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name, ...detail }))
}
