import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type DynamoDbCall = {
  readonly operation: string
  /** The table, or an index of it. */
  readonly table: string
  /** The partition key of the item that it is about; none for a scan. */
  readonly leadingKey: string | undefined
}

export type DynamoDbProxy = AsyncDisposable & {
  readonly endpoint: string
  /** Every call that was answered, in order. */
  readonly calls: (DynamoDbCall & { readonly status: number })[]
}

/** DynamoDB Local, with every call written down. */
export async function startDynamoDbProxy(target: string): Promise<DynamoDbProxy> {
  const calls: DynamoDbProxy['calls'] = []
  const agent = new Agent({ keepAlive: true })
  const server = createServer((incoming, response) => {
    forward(incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      agent.destroy()
    },
  }

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = incoming
    const body = await buffer(incoming)
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(target, { method, headers, agent }, resolve).once('error', reject).end(body)
    })
    const answered = await buffer(answer)
    calls.push({ ...callOf(String(headers['x-amz-target']), body), status: answer.statusCode ?? 0 })
    response.writeHead(answer.statusCode ?? 0, answer.headers).end(answered)
  }
}

type Attributes = Record<string, { S?: string } | undefined>

function callOf(target: string, body: Buffer): DynamoDbCall {
  const input = JSON.parse(body.toString()) as {
    TableName: string
    IndexName?: string
    Key?: Attributes
    Item?: Attributes
  }
  const item = input.Key ?? input.Item
  return {
    operation: target.split('.')[1] ?? target,
    table: input.IndexName ? `${input.TableName}/index/${input.IndexName}` : input.TableName,
    leadingKey: (item?.pk ?? item?.requestId ?? item?.id)?.S,
  }
}
