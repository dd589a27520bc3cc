import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { openInstance } from '../../functions/instance.ts'
import { stageOf } from '../../infra/stages.ts'
import { makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import type { Key } from '../../layers/gateway/domain/keys/key.ts'
import type { Nano } from '../../layers/gateway/domain/money/money.ts'
import { BRAND, FUNCTION_TIMEOUT_SECONDS } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import { writeAttributes } from '../../layers/gateway/store/dynamodb/attribute-values.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { readBooks } from '../../layers/gateway/store/keys/read-key.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { rowKey } from '../../layers/gateway/store/rows/usage-item.ts'
import { LOCAL_TABLES } from '../../local/database-thread.ts'
import { listenHere } from '../../local/dynamodb/http-server.ts'
import { WRITE_UNITS } from '../../local/dynamodb/throttle.ts'
import { itemBytes } from '../../local/dynamodb/values.ts'
import { actBy } from '../../local/issue-key.ts'
import { createGatewayServer } from '../../local/server.ts'
import { type BillLine, billOf, writeUnits } from '../bill/bill.ts'
import { markdownTable } from '../figures.ts'
import type { Stand } from '../stand.ts'
import { prepareTables } from '../waybill.ts'

const SECONDS = 4
const OPEN = 25
/** The hold of a chat with a short prompt and room for a thousand tokens, in nanocredits. */
const HOLD = 2_012_345n

/** AWS's bill for a million chats, by the prices in `bill/bill.ts` and the sizes of one real chat. */
export async function bill(stand: Stand) {
  stand.say('bill: one chat of 300 tokens, and a key with 25 open requests')
  const { chatMemoryMb: memoryMb } = stageOf('prod')
  const { lines, total, beside } = billOf({ seconds: SECONDS, memoryMb, ...(await sizesOfAChat(stand, false)) })
  const packed = await sizesOfAChat(stand, true)
  const { total: packedTotal } = billOf({ seconds: SECONDS, memoryMb, ...packed })
  const ifPacked = ['**together, with `compress`**', `${packed.answerBytes.toLocaleString('en-US')} bytes out`]
  const what = `modelled cost of a million chats of ${SECONDS} s and 300 tokens, ${OPEN} open a key`
  return {
    rows: [{ what, waybill: `**$${total.toFixed(2)}**, $${packedTotal.toFixed(2)} with \`compress\`` }],
    blocks: {
      'bill-lines': markdownTable(
        ['for a million chats', 'one chat', 'price', 'where the price is from', '$'],
        [
          ...lines.map(cells),
          ['**together**', '', '', '', `**${total.toFixed(2)}**`],
          [...ifPacked, '', '', `**${packedTotal.toFixed(2)}**`],
          ...beside.map(cells),
        ],
      ),
      'bill-total': `$${Math.round(total)}`,
      lanes: await lanesTable(stand),
    },
  }
}

/** A price has all its digits, and never fewer than two after the point. */
function cells({ what, model, price, dollars }: BillLine): string[] {
  const shown = price.dollars.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 12 })
  return [what, model, `$${shown} a ${price.per}`, price.source, dollars.toFixed(2)]
}

/** One streamed chat through the gateway: the bytes on the wire, the row, the log, and the key with open requests. */
async function sizesOfAChat(stand: Stand, isCompressed: boolean) {
  const endpoint = await stand.dynamodb()
  const { secret } = await prepareTables(endpoint, await stand.upstreamUrl())
  const tables = openTables(LOCAL_TABLES, { endpoint })
  let logBytes = 0
  const log = jsonLog((line) => {
    logBytes += Buffer.byteLength(line) + 1
  }, 'prod')
  const server = createGatewayServer(
    Promise.resolve(openInstance({ config: { ...LOCAL_TABLES, ...BRAND, isCompressed }, tables, log })),
  )
  const answer = await streamed(await listenHere(server), secret)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const [, requestId = ''] = /^x-request-id: (\S+)/im.exec(answer.toString()) ?? []
  if (/^content-encoding: gzip/im.test(answer.toString()) !== isCompressed)
    throw new Error(`The chat of the bill failed: ${answer}`)

  const { key } = await prepareTables(endpoint, UNUSED_UPSTREAM)
  return {
    answerBytes: answer.length,
    logBytes,
    rowBytes: await bytesAt(tables, tables.usage, rowKey(requestId)),
    keyItemBytes: await keyBytes(tables, key, OPEN, HOLD),
  }
}

async function bytesAt({ database }: Tables, TableName: string, Key: Record<string, string>): Promise<number> {
  const { Item: item = {} } = await database.get({ TableName, Key, ConsistentRead: true })
  return itemBytes(JSON.parse(writeAttributes(item)))
}

const LANES = [1, 2, 4, 8, 16, 32]
const STREAM_SECONDS = [4, 20, 60]
/** An open request on the item, with an amount. */
const OPEN_BYTES = 21

/** The requests a second that the write units of real items allow, if the lanes of a key share them evenly. */
async function lanesTable(stand: Stand): Promise<string> {
  const endpoint = await stand.dynamodb()
  const tables = openTables(LOCAL_TABLES, { endpoint })
  const { key } = await prepareTables(endpoint, UNUSED_UPSTREAM)
  await updateKey(tables)(key.id, { lanes: 2 }, actBy('bench'))
  const [lane = key] = await readBooks(tables)(key.id)
  const one = await keyBytes(tables, lane, 1, 0n)
  const carried = (seconds: number) => {
    let rate = 1
    while (2 * (rate + 1) * writeUnits(one + OPEN_BYTES * Math.ceil((rate + 1) * seconds)) <= WRITE_UNITS) rate += 1
    return rate
  }
  const cells = (count: number) =>
    STREAM_SECONDS.map((seconds) => `${(count * carried(seconds)).toLocaleString('en-US')} a second`)
  return markdownTable(
    ['lanes', ...STREAM_SECONDS.map((seconds) => `streams of ${seconds} s`)],
    LANES.map((count) => [String(count), ...cells(count)]),
  )
}

const UNUSED_UPSTREAM = 'http://127.0.0.1:1/v1'

async function keyBytes(tables: Tables, unused: Key, open: number, hold: Nano): Promise<number> {
  let key = unused
  const admit = takeAdmission(tables, 'UPDATED_NEW')
  for (let i = 0; i < open; i++) {
    const nowMs = Date.now()
    const holdUntilMs = nowMs + FUNCTION_TIMEOUT_SECONDS * 1000
    const demand = { requestId: makeRequestId(nowMs, randomBytes(10)), hash: key.current.hash, nowMs, hold }
    const result = await admit(key, { ...demand, holdUntilMs })
    if (result.admitted !== true) throw new Error('The bench’s key was refused.')
    key = result.key
  }
  return bytesAt(tables, tables.keys, keyItem(key.address))
}

function streamed(port: number, secret: string): Promise<Buffer> {
  const messages = [{ role: 'user', content: 'Hello' }]
  const body = JSON.stringify({ model: 'three-hundred-tokens', stream: true, messages })
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
