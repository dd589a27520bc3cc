import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConsoleFile } from '../../console/build.ts'
import { READING_SCOPES } from '../../layers/admin/api/call.ts'
import { OPERATOR_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { CliError } from '../../layers/terminal/cli-error.ts'
import { adminClient } from '../admin-client/http-client.ts'
import type { Connection } from '../connect/connect.ts'
import { Tokens } from './guard.ts'
import { openPlayground } from './playground.ts'
import { CONSOLE_PORT } from './port.ts'
import { scopedClient } from './scoped-client.ts'
import { createConsoleServer } from './server.ts'

type Options = {
  /** 0 for any free port; without one, the customary port or the next free one after it. */
  readonly port?: number | undefined
  readonly isReadOnly: boolean
}

/** Serves the console of a gateway on this machine. Resolves with the launch address, which works once. */
export async function startConsole(
  connection: Connection,
  { port, isReadOnly }: Options,
  stack: AsyncDisposableStack,
): Promise<string> {
  const tokens = new Tokens()
  const scopes = isReadOnly ? READING_SCOPES : OPERATOR_SCOPES
  const api = scopedClient(adminClient(connection), scopes)
  const playground = openPlayground(api, connection)
  stack.use(playground)
  let built: Promise<readonly ConsoleFile[]> | undefined
  const page = () => {
    built ??= import('#console-page').then(({ buildConsole }) => buildConsole())
    return built
  }
  const server = createConsoleServer({ api, scopes, tokens, page, playground })
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  await listen(server, port === undefined ? NEARBY : [port])
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/#launch=${tokens.launch}`
}

/** The customary port or one of the next, if they are free, else any. */
const NEARBY = [...Array.from({ length: 20 }, (_, i) => CONSOLE_PORT + i), 0]

async function listen(server: Server, [port, ...others]: readonly number[]): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    if (others.length > 0) return listen(server, others)
    throw new CliError(`Port ${port} is already in use. Choose another with --port, or leave it away.`)
  })
}
