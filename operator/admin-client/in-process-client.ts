import { ADMIN_SCOPES } from '../../layers/gateway/domain/admin-key.ts'
import { AdminError } from '../admin-api/admin-error.ts'
import { adminApi } from '../admin-api/handle.ts'
import type { Connection } from '../connect.ts'
import { testRoutes } from '../test-routes.ts'
import type { AdminClient } from './admin-client.ts'

/** The admin API in this process, over the gateway's tables, with the operator's own credentials. */
export function inProcessClient(connection: Connection): AdminClient {
  const administered = { ...connection, clock: Date.now, onThisMachine: { testRoutes } }
  const identity = { by: connection.whoAmI, scopes: ADMIN_SCOPES }
  return async (asked) => {
    const unexpected: Error[] = []
    const api = adminApi(administered, (_, error) => unexpected.push(error as Error))
    const answer = await api({ ...asked, identity })
    const [error] = unexpected
    return error ? { ...answer, body: told(error) } : answer
  }
}

/** There is no log to look it up in, so the one who asked is told what it was. */
function told({ name, message }: Error): string {
  return JSON.stringify(new AdminError('internal_error', `${name}: ${message}`).envelope)
}
