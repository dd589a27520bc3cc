import type { AdminAnswer, AdminRequest } from '../admin-api/call.ts'

/** What is asked of the admin API. Who asks is the client's to say. */
export type AdminAsk = Omit<AdminRequest, 'identity'>

/** Carries a question to the admin API of a gateway. Throws where no answer came. */
export type AdminClient = (asked: AdminAsk) => Promise<AdminAnswer>
