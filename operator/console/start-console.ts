import type { AddressInfo } from 'node:net'
import type { BuiltConsole } from '../../console/build.ts'
import { READING_SCOPES } from '../../layers/admin/api/call.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/admin-key.ts'
import { adminClientOf } from '../admin-client/admin-client-of.ts'
import type { Connection } from '../connect/connect.ts'
import { CliError } from '../terminal/cli-error.ts'
import { openPlayground } from './playground.ts'
import { createConsoleServer } from './server.ts'
import { Tokens } from './tokens.ts'

const clock = Date.now

type Options = {
  /** 0 for any free port. */
  readonly port: number
  readonly isReadOnly: boolean
  readonly report: (message: string) => void
}

/** Serves the console of a gateway on this machine. Resolves with the launch address, which works once. */
export async function startConsole(
  connection: Connection,
  { port, isReadOnly, report }: Options,
  stack: AsyncDisposableStack,
): Promise<string> {
  const tokens = new Tokens()
  const scopes = isReadOnly ? READING_SCOPES : ADMIN_SCOPES
  const api = adminClientOf(connection, scopes, (requestId, error) =>
    report(`${requestId}: ${error instanceof CliError ? error.message : (error as Error).stack}`),
  )
  const playground = openPlayground(api, connection, clock)
  stack.use(playground)
  let built: Promise<BuiltConsole> | undefined
  const server = createConsoleServer({
    api,
    scopes,
    tokens,
    page: () => {
      built ??= import('#console-page').then(({ buildConsole }) => buildConsole())
      return built
    },
    playground,
    clock,
  })
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = `Port ${port} is already in use. Choose another with --port, or leave it away.`
      reject(error.code === 'EADDRINUSE' ? new CliError(inUse) : error)
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/#launch=${tokens.launch}`
}
