import type { AddressInfo } from 'node:net'
import { openInstance } from '../../functions/instance.ts'
import { BRAND } from '../../layers/gateway/contract.ts'
import { openTables, type Tables } from '../../layers/gateway/store/tables.ts'
import { createGatewayServer } from '../../local/server.ts'
import { LOCAL_TABLES } from '../../operator/connect/local-gateway.ts'
import { AT_ONCE, type Target } from '../around/load.ts'
import { openMemoryTables } from '../memory-tables.ts'
import { catalogFor } from './catalog.ts'
import { benchKey } from './key.ts'
import { prepareTables } from './prepare-tables.ts'

// Waybill in a process of its own: the real server and functions, over tables in memory or, with a second argument,
// over the DynamoDB Local at that address. Each caller has a key.

const [upstreamUrl = '', dynamodb] = process.argv.slice(2)
const { tables, secrets } = dynamodb ? await tablesAt(dynamodb) : tablesInMemory()
const instance = openInstance({ config: { ...LOCAL_TABLES, ...BRAND }, tables })
const server = createGatewayServer(Promise.resolve(instance))
server.listen(0, '127.0.0.1', () => {
  const target: Target = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    headers: secrets.map((secret) => ({ Authorization: `Bearer ${secret}` })),
  }
  process.send?.(target)
})

type Opened = { readonly tables: Tables; readonly secrets: readonly string[] }

function tablesInMemory(): Opened {
  const issued = Array.from({ length: AT_ONCE }, benchKey)
  const keys = issued.map(({ key }) => key)
  return { tables: openMemoryTables(catalogFor(upstreamUrl), keys).tables, secrets: issued.map(({ secret }) => secret) }
}

/** Callers that share a key would meet in its writes, and some would be made twice. */
async function tablesAt(endpoint: string): Promise<Opened> {
  const tables = openTables(LOCAL_TABLES, { endpoint })
  const secrets: string[] = []
  while (secrets.length < AT_ONCE) secrets.push((await prepareTables(endpoint, upstreamUrl)).secret)
  return { tables, secrets }
}
