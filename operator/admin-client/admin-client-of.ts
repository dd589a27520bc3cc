import type { Administered, Identity, WantedRoutes } from '../../layers/admin/api/call.ts'
import { adminApi, type Report } from '../../layers/admin/api/handle.ts'
import { rememberAudit } from '../../layers/admin/audit/audit-keys.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/admin-key.ts'
import type { Connection } from '../connect/connect.ts'
import { testRoutes } from '../routes/test-routes.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { AdminClient } from './admin-client.ts'
import { type Ask, ask } from './ask.ts'
import { signedClient } from './signed-client.ts'
import { stageClient } from './stage-client.ts'

type Reached = Connection & Pick<Administered, 'actMs'>

/** The admin API of a gateway, for commands. */
export function adminOf(connection: Reached, report: (message: string) => void): Ask {
  const client = adminClientOf(connection, ADMIN_SCOPES, (_, error) => {
    // A refusal is what the command itself will end with.
    if (!(error instanceof CliError)) report(`${(error as Error).stack}`)
  })
  return ask(client, { isHere: connection.adminUrl === undefined })
}

/**
 * How it is asked: where a stage serves it, there, and else in this process, over the tables. This is the one place that
 * decides it. Where the stage serves it, nothing is asked of its tables: who may not call it is told so.
 */
export function adminClientOf(connection: Reached, scopes: Identity['scopes'], report: Report): AdminClient {
  const { adminUrl, tables, whoAmI } = connection
  const clock = Date.now
  const administered = {
    ...connection,
    clock,
    onThisMachine: { testRoutes: (wanted: WantedRoutes) => testRoutes(connection, wanted) },
  }
  const here = inProcessClient(administered, { by: whoAmI, scopes }, report)
  if (adminUrl === undefined) return here
  return stageClient({
    signed: signedClient(adminUrl, tables.client.config),
    here,
    scopes,
    // The books are proven, whether or not it can be noted.
    remember: (audit) => rememberAudit(tables, audit).catch(() => {}),
    report,
    clock,
  })
}

/** The admin API in this process, over tables to which the operator has rights. */
function inProcessClient(administered: Administered, identity: Identity, report: Report): AdminClient {
  const api = adminApi(administered, report)
  return (asked) => api({ ...asked, identity })
}
