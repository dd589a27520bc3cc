import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { marshall } from '@aws-sdk/util-dynamodb'
import { openInstance } from '../../functions/instance.ts'
import { stageOf } from '../../infra/stages.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/tables.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { LOCAL_TABLES } from '../../local/local-tables.ts'
import { createGatewayServer } from '../../local/server.ts'
import { type BillLine, billOf } from '../bill/bill.ts'
import { itemBytes } from '../bill/item-size.ts'
import { keyItemBytes } from '../bill/key-item-bytes.ts'
import type { RowGroup } from '../row.ts'
import { prepareTables } from '../subjects/prepare-tables.ts'
import { dollars, markdownTable } from '../words.ts'

const SECONDS = 4
const OPEN = 25

/** AWS's bill for a million chats, by the prices in `bill/prices.ts` and the sizes of one real chat. */
export const bill: RowGroup = {
  name: 'bill',
  async measure(stand) {
    stand.say('bill: one chat of 300 tokens, and a key with 25 open requests')
    const endpoint = await stand.dynamodb()
    const open = await keyItemBytes(OPEN, endpoint)
    const sizes = await sizesOfAChat(endpoint, await stand.upstreamUrl())
    const memoryMb = stageOf('prod').chatMemoryMb
    const { lines, total, beside } = billOf({
      seconds: SECONDS,
      memoryMb,
      keyItemBytes: open,
      ...sizes,
    })
    const what = `modelled cost of a million chats of ${SECONDS} s and 300 tokens, ${OPEN} open a key`
    return {
      rows: [{ what, waybill: `**${dollars(total)}**` }],
      blocks: {
        'bill-lines': markdownTable(
          ['for a million chats', 'one chat', 'price', 'where the price is from', '$'],
          [...lines.map(cells), ['**together**', '', '', '', `**${total.toFixed(2)}**`], ...beside.map(cells)],
        ),
        'bill-total': `$${Math.round(total)}`,
      },
    }
  },
}

function cells({ what, model, price, dollars: amount }: BillLine): string[] {
  return [what, model, `${priceText(price.dollars)} a ${price.per}`, price.source, amount.toFixed(2)]
}

/** With all its digits, and never fewer than two after the point. */
function priceText(amount: number): string {
  return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 12 })}`
}

type Sizes = { readonly answerBytes: number; readonly rowBytes: number; readonly logBytes: number }

/** One streamed chat through the gateway: the bytes on the wire, the row and the log. */
async function sizesOfAChat(endpoint: string, upstreamUrl: string): Promise<Sizes> {
  const { secret } = await prepareTables(endpoint, upstreamUrl)
  const tables = openTables(LOCAL_TABLES, { endpoint })
  let logBytes = 0
  const log = jsonLog((line) => {
    logBytes += Buffer.byteLength(line) + 1
  }, 'prod')
  const instance = openInstance({ config: { ...LOCAL_TABLES, ...BRAND }, tables, log })
  const server = createGatewayServer(Promise.resolve(instance))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const answer = await streamed((server.address() as AddressInfo).port, secret)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const [, requestId] = /^x-request-id: (\S+)/im.exec(answer.toString()) ?? []
  if (!/^content-encoding: gzip/im.test(answer.toString())) throw new Error(`The chat of the bill failed: ${answer}`)
  const { Item = {} } = await tables.database.get({
    TableName: tables.usage,
    Key: rowKey(requestId ?? ''),
    ConsistentRead: true,
  })
  return { answerBytes: answer.length, rowBytes: itemBytes(marshall(Item)), logBytes }
}

/** All bytes that the connection brings. */
function streamed(port: number, secret: string): Promise<Buffer> {
  const body = JSON.stringify({
    model: 'three-hundred-tokens',
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(
    [
      'POST /v1/chat/completions HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${secret}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Accept-Encoding: gzip',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  return buffer(socket)
}
