import { AdminError } from '../../layers/admin/api/admin-error.ts'
import { type AdminAnswer, adminRequestId, type Identity, requireScope } from '../../layers/admin/api/call.ts'
import { readJson } from '../../layers/admin/api/fields.ts'
import { refused } from '../../layers/admin/api/handle.ts'
import { findAdminRoute } from '../../layers/admin/api/route-table.ts'
import type { WhoAmI } from '../../layers/admin/api/shapes/answers.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import type { AdminClient } from '../admin-client/http-client.ts'

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
