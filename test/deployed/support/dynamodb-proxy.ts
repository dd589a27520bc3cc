import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type Started, startServer } from './start-server.ts'

export type DynamoDbCall = {
  readonly operation: string
  /** The table, or an index of it. */
  readonly table: string
  /** The partition key of the items that it is about; none for a scan. */
  readonly leadingKey: string | undefined
}

export type DynamoDbProxy = Started & {
  /** Every call that was answered, in order. */
  readonly calls: (DynamoDbCall & { readonly status: number })[]
}

/** DynamoDB Local, with every call written down. */
export async function startDynamoDbProxy(target: string): Promise<DynamoDbProxy> {
  const calls: DynamoDbProxy['calls'] = []
  const agent = new Agent({ keepAlive: true })
  const server = await startServer(forward)
  return {
    ...server,
    calls,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
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
    const status = answer.statusCode ?? 0
    for (const call of callsOf(String(headers['x-amz-target']), body)) calls.push({ ...call, status })
    response.writeHead(answer.statusCode ?? 0, answer.headers).end(answered)
  }
}

type Attributes = Record<string, { S?: string } | undefined>
type Input = {
  readonly TableName: string
  readonly IndexName?: string
  readonly Key?: Attributes
  readonly Item?: Attributes
  readonly KeyConditionExpression?: string
  readonly ExpressionAttributeValues?: Attributes
}

type Batch = { readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Attributes[] }>> }

/** IAM judges each item of a transaction or a batch as a call of its own. */
function callsOf(target: string, body: Buffer): DynamoDbCall[] {
  const operation = target.split('.')[1] ?? target
  const input = JSON.parse(body.toString()) as Input & { TransactItems?: Record<string, Input>[] } & Batch
  const batches = Object.entries(input.RequestItems ?? {})
  if (batches.length > 0) {
    return batches.flatMap(([TableName, { Keys }]) => Keys.map((Key) => callOf(operation, { TableName, Key })))
  }
  if (operation !== 'TransactWriteItems') return [callOf(operation, input)]
  const writes = input.TransactItems?.flatMap((item) => Object.entries(item)) ?? []
  return writes.map(([name, write]) => callOf(name === 'ConditionCheck' ? 'ConditionCheckItem' : `${name}Item`, write))
}

function callOf(operation: string, input: Input): DynamoDbCall {
  const item = input.Key ?? input.Item
  // A query's condition begins with the partition key.
  const [, queried = ''] = / = (:\w+)/.exec(input.KeyConditionExpression ?? '') ?? []
  return {
    operation,
    table: input.IndexName ? `${input.TableName}/index/${input.IndexName}` : input.TableName,
    leadingKey: (item?.pk ?? item?.part ?? item?.id ?? input.ExpressionAttributeValues?.[queried])?.S,
  }
}
