import type { AdminAnswer, AdminRequest } from '../../layers/admin/api/call.ts'

/** A request to the admin API, before its caller is known. */
export type AdminAsk = Omit<AdminRequest, 'identity'>

/** Asks the admin API of one gateway, local or remote: returns every answer, refusals too, and never throws. */
export type AdminClient = (asked: AdminAsk) => Promise<AdminAnswer>
