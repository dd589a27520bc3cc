import type { Database, UpdateInput } from '../../layers/gateway/store/database.ts'
import { openOperatorTables } from '../../layers/gateway/store/operator-tables.ts'
import { openTables } from '../../layers/gateway/store/tables.ts'
import { LOCAL_TABLES } from '../../operator/connect/local-gateway.ts'
import { writesOfRequest } from '../writes-of-request.ts'
import { prepareTables } from './prepare-tables.ts'

// Sends the two writes that a request makes to its key, its admission and its settlement, as often as it is asked to: in
// turns through the gateway's own client and through the SDK's document client. It tells the processor time of one call.

export type StoreQuestion = { readonly turns: number }
/** In µs. */
export type StoreCpu = { readonly store: number; readonly sdk: number }

const REQUESTS_A_TURN = 10

const [endpoint = '', upstreamUrl = ''] = process.argv.slice(2)
const tables = openTables(LOCAL_TABLES, { endpoint })
const { key } = await prepareTables(endpoint, upstreamUrl)
const ours = tables.database
const theirs = openOperatorTables(LOCAL_TABLES, { endpoint }).database

process.on('message', async ({ turns }: Partial<StoreQuestion>) => {
  if (!turns) return
  const total = { store: 0, sdk: 0 }
  for (let turn = 0; turn < turns; turn++) {
    total.store += await cpuOfTurn(ours)
    total.sdk += await cpuOfTurn(theirs)
  }
  process.send?.({ store: total.store / turns, sdk: total.sdk / turns } satisfies StoreCpu)
})
process.send?.('ready')

async function cpuOfTurn(database: Database): Promise<number> {
  const writes: UpdateInput[] = []
  for (let i = 0; i < REQUESTS_A_TURN; i++) {
    const { admission, settlement } = await writesOfRequest(tables, key)
    writes.push(admission, settlement)
  }
  const before = process.cpuUsage()
  for (const write of writes) await database.update(write)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / writes.length
}
