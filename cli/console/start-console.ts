import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConsoleFile } from '../../console/build.ts'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import {
  type AdminAnswer,
  adminRequestId,
  type Identity,
  READING_SCOPES,
  requireScope,
} from '../../layers/admin/api/call.ts'
import { readJson } from '../../layers/admin/api/fields.ts'
import { refused } from '../../layers/admin/api/handle.ts'
import { findAdminRoute } from '../../layers/admin/api/route-table.ts'
import type { WhoAmI } from '../../layers/admin/api/shapes/answers.ts'
import { OPERATOR_SCOPES } from '../../layers/gateway/domain/keys/admin-scopes.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { CliError } from '../../layers/terminal/output.ts'
import { type AdminClient, adminClient } from '../admin-client/http-client.ts'
import type { Connection } from '../connect/connect.ts'
import { Tokens } from './guard.ts'
import { openPlayground } from './playground.ts'
import { CONSOLE_PORT } from './port.ts'
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
  const playground = stack.use(openPlayground(api, connection))
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

/** The admin API within the scopes of this console, whatever its operator may do: another call is not sent. */
export function scopedClient(client: AdminClient, scopes: Identity['scopes']): AdminClient {
  return async (asked) => {
    try {
      const { route } = findAdminRoute(asked.method, asked.path)
      if (route.scope !== undefined) requireScope({ scopes }, route.scope)
      if (asked.method !== 'GET') readJson(asked, route)
    } catch (error) {
      if (error instanceof AdminError) return refused(adminRequestId(Date.now()), error)
      throw error
    }
    const answer = await client(asked)
    return asked.path === `${ADMIN_ROOT}/whoami` && answer.status === 200 ? narrowed(answer) : answer
  }

  /** A page offers only the actions that its own console allows. */
  function narrowed(answer: AdminAnswer): AdminAnswer {
    const identity = JSON.parse(String(answer.body)) as WhoAmI
    const both = identity.scopes.filter((scope) => (scopes as readonly string[]).includes(scope))
    return { ...answer, body: JSON.stringify({ ...identity, scopes: both } satisfies WhoAmI) }
  }
}
