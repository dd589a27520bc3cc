import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Key } from '../../layers/gateway/domain/key.ts'
import type { UsageRow } from '../../layers/gateway/domain/usage-row.ts'
import { toItem } from '../../layers/gateway/store/keys/key-item.ts'
import { toUsageItem } from '../../layers/gateway/store/usage/usage-item.ts'

const options = { removeUndefinedValues: true }

export type LongTable = AsyncDisposable & { readonly endpoint: string; readonly pagesRead: number }

/**
 * DynamoDB as far as reading one key and its rows goes, with more rows than DynamoDB Local takes in in reasonable
 * time: one row, many times, under different ids. They come in pages, as DynamoDB hands them out.
 */
export async function startLongTable(key: Key, row: UsageRow, pages: number, pageRows: number): Promise<LongTable> {
  const keyAnswer = { Item: marshall(toItem(key), options) }
  const item = marshall(toUsageItem(row), options)
  let pagesRead = 0
  const server = createServer(async (request, response) => {
    const { ExclusiveStartKey: start } = (await json(request)) as { ExclusiveStartKey?: { requestId: { S: string } } }
    const isQuery = request.headers['x-amz-target']?.toString().endsWith('.Query')
    response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify(isQuery ? pageAnswer(Number(start?.requestId.S ?? 0)) : keyAnswer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function pageAnswer(page: number) {
    pagesRead += 1
    const Items = Array.from({ length: pageRows }, (_, i) => ({ ...item, requestId: { S: `req_${page}_${i}` } }))
    return { Items, ...(page + 1 < pages && { LastEvaluatedKey: { requestId: { S: String(page + 1) } } }) }
  }

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get pagesRead() {
      return pagesRead
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
