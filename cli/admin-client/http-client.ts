import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../layers/admin/api/admin-error.ts'
import { type AdminAnswer, type AdminAsk, adminRequestId } from '../../layers/admin/api/call.ts'
import { refused } from '../../layers/admin/api/handle.ts'
import { timeLeft } from '../../layers/gateway/domain/keys/act.ts'
import { ADMIN_ROOT } from '../../layers/gateway/endpoints.ts'
import { noAnswer } from './gateway-refusal.ts'
import { readAnswer } from './read-answer.ts'
import { send } from './send.ts'
import type { SignIn } from './sign-in.ts'

/** Asks the admin API of one gateway, local or remote: returns every answer, refusals too, and never throws. */
export type AdminClient = (asked: AdminAsk) => Promise<AdminAnswer>

type Options = {
  readonly clock?: () => number
  /** The time for all tries of one call, with their pauses and bodies. */
  readonly callMs?: number
}

/** API Gateway's timeout. A call is retried only if so much time is left. */
const ANSWER_MS = 30_000
const CALL_MS = ANSWER_MS + 10_000
const PASSING = new Set([500, 503, 504])
/** Routes that an Idempotency-Key makes safe to retry. Others do not read it. */
const ONCE = new RegExp(`^${ADMIN_ROOT}/(admin-)?keys(/[\\w-]+/(rotate|grants))?$`)

/** The admin API of a gateway, by HTTP. */
export function adminClient(
  { adminUrl, signIn }: { readonly adminUrl: string; readonly signIn: SignIn },
  { clock = Date.now, callMs = CALL_MS }: Options = {},
): AdminClient {
  const sendOnce = send(adminUrl, signIn)
  const { host } = new URL(adminUrl)

  return async (asked) => {
    const leftMs = timeLeft(callMs, clock)
    let unknown: AdminAnswer | undefined
    for (let attempt = 1; ; attempt++) {
      const answer = await answered(asked, leftMs())
      if (!PASSING.has(answer.status)) return answer
      if (isUnknown(answer)) unknown ??= answer
      const pauseMs = 100 * 2 ** attempt * (0.5 + Math.random() / 2)
      // After a try of unknown outcome, a failure of the next one tells nothing about it.
      if (!mayBeAskedAgain(asked) || leftMs() - pauseMs < ANSWER_MS) return unknown ?? answer
      await sleep(pauseMs)
    }
  }

  async function answered(asked: AdminAsk, leftMs: number): Promise<AdminAnswer> {
    try {
      const response = await sendOnce(asked, clock(), AbortSignal.timeout(Math.max(0, leftMs)))
      return await readAnswer(response, asked, clock())
    } catch (error) {
      const refusal = error instanceof AdminError ? error : noAnswer(host, error as Error, asked)
      return refused(adminRequestId(clock()), refusal)
    }
  }
}

function isUnknown({ body }: AdminAnswer): boolean {
  return typeof body === 'string' && /"code":"(outcome_unknown|took_too_long)"/.test(body)
}

function mayBeAskedAgain({ method, path, headers }: AdminAsk): boolean {
  return method === 'GET' || (ONCE.test(path) && headers['idempotency-key'] !== undefined)
}
