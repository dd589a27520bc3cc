import type { Connection } from '../connect.ts'
import type { AdminClient } from './admin-client.ts'
import { inProcessClient } from './in-process-client.ts'

/** How the admin API of a gateway is asked: here, over its tables. The one place where this is decided. */
export function adminClientOf(connection: Connection): AdminClient {
  return inProcessClient(connection)
}
