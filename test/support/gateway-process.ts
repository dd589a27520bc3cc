import type { AddressInfo } from 'node:net'
import { openInstance } from '../../functions/instance.ts'
import type { ChatTiming } from '../../layers/gateway/flow/answering/chat-deps.ts'
import { BRAND } from '../../layers/gateway/names.ts'
import { jsonLog } from '../../layers/gateway/platform/log/log.ts'
import { openTables, type TableNames } from '../../layers/gateway/store/dynamodb/dynamodb-client.ts'
import { createGatewayServer } from '../../local/server.ts'

// The local gateway in a process of its own, over a database that outlives it: where that listens, its tables, and how
// long things may take where that is not as usual.
const [endpoint = '', names = '', timing = ''] = process.argv.slice(2)
const tableNames: TableNames = JSON.parse(names)
const instance = openInstance({
  config: { ...tableNames, ...BRAND },
  tables: openTables(tableNames, { endpoint }),
  timing: JSON.parse(timing) as Partial<ChatTiming>,
  log: jsonLog((line) => process.stderr.write(`${line}\n`)),
})
const server = createGatewayServer(Promise.resolve(instance))
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
