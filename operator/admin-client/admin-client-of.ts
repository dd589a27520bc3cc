import type { Administered, Identity, WantedRoutes } from '../../layers/admin/api/call.ts'
import { adminApi, type Report } from '../../layers/admin/api/handle.ts'
import { rememberAudit } from '../../layers/admin/audit/audit-keys.ts'
import { ADMIN_SCOPES } from '../../layers/gateway/domain/admin-key.ts'
import type { Connection } from '../connect/connect.ts'
import { CliError } from '../terminal/cli-error.ts'
import type { AdminClient } from './admin-client.ts'
import { type Ask, ask } from './ask.ts'
import { signedClient } from './signed-client.ts'
import { stageClient } from './stage-client.ts'

type Reached = Connection & Pick<Administered, 'actMs'>

export function adminOf(connection: Reached, report: (message: string) => void): Ask {
  const client = adminClientOf(connection, ADMIN_SCOPES, (_, error) => {
    // The command itself will end with the refusal.
    if (!(error instanceof CliError)) report(`${(error as Error).stack}`)
  })
  return ask(client, { isHere: connection.adminUrl === undefined })
}

/** With the providers' dialects, which no other call needs. */
const routes = () => import('../routes/test-routes.ts')

/**
 * Chooses the client of the admin API: the stage's own, if it serves one, and else one in this process, over the
 * tables. Only this function decides it. If the stage serves one, its tables are not used: a caller without the right
 * to call it is told so.
 */
export function adminClientOf(connection: Reached, scopes: Identity['scopes'], report: Report): AdminClient {
  const { adminUrl, tables, whoAmI } = connection
  const clock = Date.now
  const administered = {
    ...connection,
    clock,
    onThisMachine: { testRoutes: async (wanted: WantedRoutes) => (await routes()).testRoutes(connection, wanted) },
  }
  const here = inProcessClient(administered, { by: whoAmI, scopes }, report)
  if (adminUrl === undefined) return here
  return stageClient({
    signed: signedClient(adminUrl, tables.client.config),
    here,
    scopes,
    // The books are proven, even if the result cannot be stored.
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
