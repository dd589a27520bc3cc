import { ADMIN_SCOPES } from '../../layers/gateway/domain/admin-key.ts'
import type { Connection } from '../connect.ts'
import { testRoutes } from '../test-routes.ts'
import type { AdminClient } from './admin-client.ts'
import { type Ask, ask } from './ask.ts'
import { inProcessClient } from './in-process-client.ts'

/** Told of what nobody expected. */
type Report = (message: string) => void

/** The admin API of a gateway, for commands. */
export function adminOf(connection: Connection, report: Report): Ask {
  return ask(adminClientOf(connection, report), { isHere: true })
}

/** How it is asked: in this process, over the tables. This is the one place that decides it. */
export function adminClientOf(connection: Connection, report: Report): AdminClient {
  const administered = { ...connection, clock: Date.now, onThisMachine: { testRoutes } }
  const identity = { by: connection.whoAmI, scopes: ADMIN_SCOPES }
  return inProcessClient(administered, identity, (_, error) => report(`${(error as Error).stack}`))
}
