import type { AdminAnswer, AdminRequest } from '../../layers/admin/api/call.ts'

/** A request to the admin API, before it is known who makes it. */
export type AdminAsk = Omit<AdminRequest, 'identity'>

/** Asks the admin API of one gateway, wherever it runs: every answer, refusals too, and never an exception. */
export type AdminClient = (asked: AdminAsk) => Promise<AdminAnswer>
