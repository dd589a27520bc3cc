import { userInfo } from 'node:os'
import { isSame, refuseForeign } from '../cli/console/guard.ts'
import { createAdmin } from '../functions/admin/create.ts'
import type { AdminEvent } from '../functions/admin/identify.ts'
import { AdminError } from '../layers/admin/api/admin-error.ts'
import type { Identity } from '../layers/admin/api/call.ts'
import { OPERATOR_SCOPES } from '../layers/gateway/domain/keys/admin-scopes.ts'
import { LOCAL_STAGE } from '../layers/gateway/names.ts'

type Options = Omit<Parameters<typeof createAdmin>[0], 'stage' | 'settings' | 'identify'> & {
  readonly baseUrl: string
  readonly token: string
  readonly tellsNotices?: boolean
}

export type LocalAdmin = ReturnType<typeof createAdmin>

/** The admin API of this machine: the function that AWS starts, for whoever can read the token in the folder. */
export function createLocalAdmin({ baseUrl, token, tellsNotices = false, ...parts }: Options): LocalAdmin {
  return createAdmin({
    ...parts,
    stage: LOCAL_STAGE,
    settings: { baseUrl: `${baseUrl}/v1`, isProtected: false, takesKeys: true, tellsNotices },
    identify: tokenHolder(token, Number(new URL(baseUrl).port)),
  })
}

const NO_TOKEN =
  "This needs the header 'Authorization: Bearer …' with the adminToken in local.json of the gateway's folder."

/** No page of a browser may call, even if it has the token: the console asks for the page. */
function tokenHolder(token: string, port: number): (event: AdminEvent) => Identity {
  const by = userInfo().username
  return ({ headers, requestContext }) => {
    refuseForeign({ headers, method: requestContext.http.method, isPage: false }, port)
    if (isSame(headers.authorization, `Bearer ${token}`)) return { by: async () => by, scopes: OPERATOR_SCOPES }
    throw new AdminError('invalid_local_token', NO_TOKEN)
  }
}
