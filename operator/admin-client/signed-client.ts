import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import type { AdminAnswer } from '../../layers/admin/api/call.ts'
import { refused } from '../../layers/admin/api/handle.ts'
import { adminRequestId } from '../../layers/admin/api/request-id.ts'
import { ADMIN_ROOT } from '../../layers/admin/api/route-table.ts'
import type { AdminAsk, AdminClient } from './admin-client.ts'
import { unanswered } from './gateway-refusal.ts'
import { readAnswer } from './read-answer.ts'
import { type Signing, sendSigned } from './send-signed.ts'

type Options = Signing & {
  readonly clock?: () => number
  /** For an answer with all of its body; API Gateway itself gives up after 30 seconds. */
  readonly patienceMs?: number
}

const TRIES = 3
/** An answer that took long is not asked for again: it would take as long. */
const ASKED_AGAIN_WITHIN_MS = 10_000
const PASSING = new Set([500, 503, 504])
/** What an Idempotency-Key makes happen once. Elsewhere the admin API does not read it. */
const ONCE = new RegExp(`^${ADMIN_ROOT}/keys(/[\\w-]+/(rotate|grants))?$`)

/** The admin API that a stage serves, asked with AWS credentials. */
export function signedClient(
  adminUrl: string,
  { credentials, region, sha256, clock = Date.now, patienceMs = 60_000 }: Options,
): AdminClient {
  const send = sendSigned(adminUrl, { credentials, region, sha256 })
  const { host } = new URL(adminUrl)

  return async (asked) => {
    const lastMs = clock() + ASKED_AGAIN_WITHIN_MS
    for (let attempt = 1; ; attempt++) {
      const answer = await answered(asked)
      const isWorthIt = PASSING.has(answer.status) && attempt < TRIES && clock() < lastMs
      if (!isWorthIt || !mayBeAskedAgain(asked)) return answer
      await sleep(100 * 2 ** attempt * (0.5 + Math.random() / 2))
    }
  }

  async function answered(asked: AdminAsk): Promise<AdminAnswer> {
    try {
      const response = await send(asked, clock(), AbortSignal.timeout(patienceMs))
      return await readAnswer(response, asked, clock())
    } catch (error) {
      const refusal = error instanceof AdminError ? error : unanswered(host, error as Error, asked)
      return refused(adminRequestId(clock()), refusal)
    }
  }
}

function mayBeAskedAgain({ method, path, headers }: AdminAsk): boolean {
  return method === 'GET' || (ONCE.test(path) && headers['idempotency-key'] !== undefined)
}
