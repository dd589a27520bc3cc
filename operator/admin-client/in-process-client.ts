import type { Administered, Identity } from '../../layers/admin/api/call.ts'
import { adminApi, type Report } from '../../layers/admin/api/handle.ts'
import type { AdminClient } from './admin-client.ts'

/** The admin API in this process, over tables to which the operator has rights. */
export function inProcessClient(administered: Administered, identity: Identity, report: Report): AdminClient {
  const api = adminApi(administered, report)
  return (asked) => api({ ...asked, identity })
}
