import type { AddressInfo } from 'node:net'
import { openInstance } from '../../functions/instance.ts'
import { BRAND } from '../../layers/gateway/contract.ts'
import { openTables, type Tables } from '../../layers/gateway/store/tables.ts'
import { createGatewayServer } from '../../local/server.ts'
import { LOCAL_TABLES } from '../../operator/local-gateway.ts'
import type { Target } from '../around/load.ts'
import { openMemoryTables } from '../memory-tables.ts'
import { catalogFor } from './catalog.ts'
import { benchKey } from './key.ts'
import { prepareTables } from './prepare-tables.ts'

// Waybill in a process of its own: the real server and functions, over tables in memory or, with a second argument,
// over the DynamoDB Local at that address. With a third, it sends its traces to that port.

const [upstreamUrl = '', dynamodb, daemonPort] = process.argv.slice(2)
const { tables, secret } = dynamodb ? await tablesAt(dynamodb) : tablesInMemory()
const tracing = daemonPort ? { tracing: { host: '127.0.0.1', port: Number(daemonPort) } } : {}
const instance = openInstance({ config: { ...LOCAL_TABLES, ...BRAND, ...tracing }, tables })
const server = createGatewayServer(Promise.resolve(instance))
server.listen(0, '127.0.0.1', () => {
  const target: Target = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    headers: { Authorization: `Bearer ${secret}` },
  }
  process.send?.(target)
})

type Opened = { readonly tables: Tables; readonly secret: string }

function tablesInMemory(): Opened {
  const { key, secret } = benchKey()
  return { tables: openMemoryTables(catalogFor(upstreamUrl), key).tables, secret }
}

async function tablesAt(endpoint: string): Promise<Opened> {
  const tables = openTables(LOCAL_TABLES, { endpoint })
  const { secret } = await prepareTables(endpoint, upstreamUrl)
  return { tables, secret }
}
