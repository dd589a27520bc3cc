import { randomBytes } from 'node:crypto'
import { makeRequestId } from '../../layers/gateway/domain/basics/time.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../../layers/gateway/names.ts'
import { takeAdmission } from '../../layers/gateway/store/admission/take-admission.ts'
import type { Tables } from '../../layers/gateway/store/dynamodb/database.ts'
import { openTables } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { keyItem } from '../../layers/gateway/store/keys/key-item.ts'
import { readBooks } from '../../layers/gateway/store/keys/read-books.ts'
import { updateKey } from '../../layers/gateway/store/keys/update-key.ts'
import { LOCAL_TABLES, startDatabase } from '../../local/database-thread.ts'
import { itemBytes } from '../../local/dynamodb/item-bytes.ts'
import { WRITE_UNITS } from '../../local/dynamodb/throttle.ts'
import type { Item } from '../../local/dynamodb/value.ts'
import { actBy } from '../../local/issue-key.ts'
import { writeUnits } from '../bill/bill.ts'
import { markdownTable, number } from '../figures.ts'
import { ask, paced } from '../load.ts'
import type { Stand } from '../stand.ts'
import { openGateway, prepareTables } from '../waybill.ts'

const INSTANCES = 32
const LANES = [1, 2, 4, 8, 16, 32]
const STREAM_SECONDS = [4, 20, 60]
const RATES = [50, 70, 100, 150, 200, 300, 500, 1_000]
const RATE_MS = 15_000

/** Streams of four seconds to one key, at rising rates, by many instances over a database that throttles as DynamoDB does. */
export async function lanes(stand: Stand) {
  await using stack = new AsyncDisposableStack()
  const { endpoint } = await startDatabase({ credentials: null, file: null, unitsASecond: WRITE_UNITS }, stack)
  const tables = openTables(LOCAL_TABLES, { endpoint })
  const upstream = await stand.upstreamUrl()
  const rows = []
  for (const count of [1, 16]) {
    const { key, secret } = await prepareTables(endpoint, upstream)
    if (count > 1) await updateKey(tables)(key.id, { lanes: count, maxConcurrent: 16_000 }, actBy('bench'))
    const urls = await Promise.all(Array.from({ length: INSTANCES }, () => openGateway(tables, stack)))
    let last = 'none'
    for (const rate of RATES) {
      stand.say(`lanes: ${count}, ${rate} requests a second`)
      const { answered, busyShare, p99 } = await drive(urls, secret, rate)
      const found = `${number(answered * 100)} % of ${rate} a second answered, p99 of the first byte ${number(p99)} ms`
      if (answered < 0.99) {
        last += `; then ${found}, this process busy ${number(busyShare * 100)} %`
        break
      }
      last = found
    }
    rows.push({ what: `one key with ${count === 1 ? 'one lane' : `${count} lanes`}, streams of 4 s`, waybill: last })
  }
  return { rows, blocks: { lanes: await unitsTable(tables, endpoint, upstream) } }
}

/** The share that was answered, also of those that could not be sent in time. */
async function drive(urls: readonly string[], secret: string, rate: number) {
  const headers = [{ Authorization: `Bearer ${secret}` }]
  const loop = performance.eventLoopUtilization()
  const askNext = async (i: number): Promise<number> => {
    const asked = ask({ url: urls[i % urls.length] ?? '', headers }, { model: 'four-seconds', stream: true })
    return asked.then(({ firstMs }) => firstMs).catch(() => Number.NaN)
  }
  const all = await paced(askNext, 1_000 / rate, RATE_MS)
  const { utilization } = performance.eventLoopUtilization(loop)
  const times = all.filter((ms) => !Number.isNaN(ms)).toSorted((a, b) => a - b)
  const answered = times.length / ((rate * RATE_MS) / 1_000)
  return {
    answered: Math.min(1, answered),
    busyShare: utilization,
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
  }
}

/** The requests a second that the write units of real items allow, if the lanes share them evenly. */
async function unitsTable(tables: Tables, endpoint: string, upstream: string): Promise<string> {
  const { key } = await prepareTables(endpoint, upstream)
  await updateKey(tables)(key.id, { lanes: 2 }, actBy('bench'))
  const [lane = key] = await readBooks(tables)(key.id)
  const nowMs = Date.now()
  const times = { nowMs, holdUntilMs: nowMs + FUNCTION_TIMEOUT_SECONDS * 1_000 }
  const requestId = makeRequestId(nowMs, randomBytes(10))
  await takeAdmission(tables)(lane, { ...times, requestId, hash: key.current.hash, hold: 0n })
  const Key = keyItem(key.id)
  const { Item: item = {} } = await tables.database.get({ TableName: tables.keys, Key, ConsistentRead: true })
  const [[stored] = [], one] = [item.openHolds as Set<Uint8Array>, itemBytes(item as Item)]
  // An amount takes four bytes more.
  const hold = (stored?.length ?? 0) + 4
  const carried = (seconds: number) => {
    let rate = 1
    while (2 * (rate + 1) * writeUnits(one + hold * Math.ceil((rate + 1) * seconds)) <= WRITE_UNITS) rate += 1
    return rate
  }
  const heads = STREAM_SECONDS.map((seconds) => `streams of ${seconds} s`)
  const cells = (count: number) =>
    STREAM_SECONDS.map((seconds) => `${(count * carried(seconds)).toLocaleString('en-US')} a second`)
  return markdownTable(
    ['lanes', ...heads],
    LANES.map((count) => [String(count), ...cells(count)]),
  )
}
